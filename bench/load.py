"""Keeps a number of messages in flight, and measures how long the app takes for all of them."""

import time
from collections.abc import Iterable
from itertools import batched, islice
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from azure.servicebus import ServiceBusClient, ServiceBusMessage

from tests.running_stack import Stack

POLL_SECONDS: Final = 0.001
STUCK_SECONDS: Final = 60.0
BATCH_MESSAGES_MAX: Final = 100
"""What fits into one send of the Standard tier's 256 KB, with bodies of up to 2 KB."""

_ENDED: Final = b" Executed 'Functions."
_SUCCEEDED: Final = b"(Succeeded"
"""What the host writes at the end of a run."""


class Load:
    """A producer for one queue of a running stack."""

    def __init__(self, stack: Stack, queue: str) -> None:
        self._client = ServiceBusClient.from_connection_string(stack.env["ServiceBusConnection"])
        self._sender = self._client.get_queue_sender(queue)
        self._ends = Ends(stack.app / ".devstack" / "functions.log")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._sender.close()
        self._client.close()
        self._ends.close()

    def seconds(self, messages: Iterable[ServiceBusMessage], *, in_flight: int) -> float:
        """Send the messages with at most so many in flight, and return the seconds until all have succeeded.

        Raises:
            RuntimeError: a run failed, or nothing happened for a minute: such a figure would be none.
        """
        waiting = iter(list(messages))
        self._ends.skip()
        started = moved = time.monotonic()
        sent = done = 0
        while True:
            room = list(islice(waiting, in_flight - (sent - done)))
            for batch in batched(room, BATCH_MESSAGES_MAX, strict=False):
                self._sender.send_messages(list(batch))
                sent += len(batch)
            if done == sent:
                return time.monotonic() - started
            if ended := self._ends.count():
                done += ended
                moved = time.monotonic()
            elif time.monotonic() - moved > STUCK_SECONDS:
                raise RuntimeError(f"{done} of {sent} messages were done, then nothing for {STUCK_SECONDS} s")
            else:
                time.sleep(POLL_SECONDS)


class Ends:
    """Counts the runs that end, by the host's log."""

    def __init__(self, log: Path) -> None:
        self._file = log.open("rb")
        self._rest = b""

    def skip(self) -> None:
        """Count from here on."""
        self._file.seek(0, 2)
        self._rest = b""

    def count(self) -> int:
        """How many have ended since the last count.

        Raises:
            RuntimeError: one of them failed.
        """
        *lines, self._rest = (self._rest + self._file.read()).split(b"\n")
        ended = [line for line in lines if _ENDED in line]
        if failed := [line for line in ended if _SUCCEEDED not in line]:
            raise RuntimeError(f"a run failed: {failed[0].decode()}")
        return len(ended)

    def close(self) -> None:
        """Close the log."""
        self._file.close()
