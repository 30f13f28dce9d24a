"""Sends until it is accepted, as a producer does: the same message again after any failure."""

import json
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from azure.core.exceptions import AzureError
from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender

from tests.e2e.outside import request
from tests.soak.model import Sent

SECONDS_MAX = 60.0


class Producer:
    """One sender, opened anew after each failure.

    Args:
        env: the addresses.
        after_failure: called after each; keeps what recycles itself alive.
    """

    def __init__(self, env: dict[str, str], after_failure: Callable[[], None]) -> None:
        self._env = env
        self._after_failure = after_failure
        self._client: ServiceBusClient | None = None
        self._sender: ServiceBusSender | None = None
        self.resent = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def send(self, sent: Sent) -> None:
        """Return when the broker has it.

        Raises:
            TimeoutError: it was not accepted within a minute.
        """
        deadline = time.monotonic() + SECONDS_MAX
        while not (self._post(sent) if sent.over_http else self._enqueue(sent)):
            self.resent += 1
            self._after_failure()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{sent.message_id} was not accepted within {SECONDS_MAX} s")
            time.sleep(0.2)

    def _post(self, sent: Sent) -> bool:
        try:
            return request(self._env, "POST", "/api/orders", json.dumps(sent.order).encode()).status == 202
        except OSError:
            return False

    def _enqueue(self, sent: Sent) -> bool:
        body = json.dumps(sent.order)
        message = ServiceBusMessage(body, message_id=sent.message_id, session_id=sent.order_id)
        try:
            self._opened().send_messages(message, timeout=5)
        except (AzureError, OSError, ValueError):
            self._close()
            return False
        return True

    def _opened(self) -> ServiceBusSender:
        if self._sender is None:
            self._client = ServiceBusClient.from_connection_string(self._env["ServiceBusConnection"], retry_total=0)
            self._sender = self._client.get_queue_sender("orders")
        return self._sender

    def _close(self) -> None:
        for opened in (self._sender, self._client):
            if opened is not None:
                opened.close()
        self._client = self._sender = None
