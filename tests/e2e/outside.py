"""A running stack seen from outside: HTTP, and the SDKs of Service Bus and Cosmos DB."""

import asyncio
import http.client
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self
from urllib.parse import urlsplit

from azure.cosmos import ContainerProxy, CosmosClient
from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSender, ServiceBusSubQueue
from azure.servicebus.aio import ServiceBusClient as AsyncServiceBusClient

from samples.queue_client import count_left
from tests.running_stack import Stack, until

type Document = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:  # noqa: ANN401 - JSON
        """The body."""
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Disposition:
    """A disposition line of the app's log."""

    fields: Mapping[str, str]

    @property
    def is_final(self) -> bool:
        """Whether the message has left the queue."""
        return self.fields["disposition"] != "retry"


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message in the dead-letter queue."""

    message_id: str
    reason: str
    description: str
    body: bytes
    delivery_count: int


@dataclass(frozen=True, slots=True)
class Outside:
    """What a test holds of a running stack."""

    stack: Stack
    bus: ServiceBusClient
    sender: ServiceBusSender
    container: ContainerProxy

    @classmethod
    @contextmanager
    def of(cls, stack: Stack) -> Iterator[Self]:
        """Open the SDKs' clients; each costs half a second."""
        with (
            ServiceBusClient.from_connection_string(stack.env["ServiceBusConnection"]) as bus,
            bus.get_queue_sender("orders") as sender,
            CosmosClient.from_connection_string(stack.env["CosmosConnection"]) as cosmos,
        ):
            container = cosmos.get_database_client("ordering").get_container_client("orders")
            yield cls(stack, bus, sender, container)

    def send(self, *messages: ServiceBusMessage) -> None:
        """Send the messages in their order, in one batch."""
        batch = self.sender.create_message_batch()
        for message in messages:
            batch.add_message(message)
        self.sender.send_messages(batch)

    def dispositions(self, message_id: str) -> list[Disposition]:
        """What became of the deliveries of one message, in order."""
        lines = (line[line.index("disposition=") :] for line in self.stack.dispositions())
        entries = (Disposition(dict(re.findall(r"(\w+)=(\S+)", line))) for line in lines)
        return [entry for entry in entries if entry.fields["message_id"] == message_id]

    def settled(self, *message_ids: str) -> list[Disposition]:
        """Wait until each message has left the queue, and return the dispositions by which they did."""

        def final() -> list[Disposition]:
            return [entry for message_id in message_ids for entry in self.dispositions(message_id) if entry.is_final]

        until(lambda: len(final()) >= len(message_ids), f"the end of {message_ids}")
        return final()

    def outcome(self, message: ServiceBusMessage) -> str:
        """Wait until the message has left the queue, and return how: such as `complete applied`."""
        (entry,) = self.settled(str(message.message_id))
        return f"{entry.fields['disposition']} {entry.fields['outcome']}"

    def partition(self, order_id: str) -> dict[str, Document]:
        """All documents of an order by id, without Cosmos DB's own fields."""
        found = self.container.query_items("SELECT * FROM c", partition_key=order_id)
        return {item["id"]: {name: value for name, value in item.items() if name[0] != "_"} for item in found}

    def dead_letters(self) -> dict[str, DeadLetter]:
        """The dead letters by MessageId; they stay where they are."""
        with self.bus.get_queue_receiver("orders", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
            found = receiver.peek_messages(250)
        letters = [
            DeadLetter(
                message_id=message.message_id or "",
                reason=message.dead_letter_reason or "",
                description=message.dead_letter_error_description or "",
                body=b"".join(message.body),
                delivery_count=message.delivery_count or 0,
            )
            for message in found
        ]
        assert len({letter.message_id for letter in letters}) == len(letters), letters
        return {letter.message_id: letter for letter in letters}

    def left_in_queue(self, session_ids: Iterable[str]) -> int:
        """How many messages of these sessions are still in the queue."""

        async def count() -> int:
            async with AsyncServiceBusClient.from_connection_string(self.stack.env["ServiceBusConnection"]) as client:
                return await count_left(client, session_ids)

        return asyncio.run(count())

    def request(
        self,
        method: str,
        path: str,
        body: bytes | Iterable[bytes] | None = None,
        *,
        keyed: bool = True,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send one HTTP request; an iterable body goes out chunked."""
        return request(self.stack.env, method, path, body, keyed=keyed, headers=headers)


def request(
    env: Mapping[str, str],
    method: str,
    path: str,
    body: bytes | Iterable[bytes] | None = None,
    *,
    keyed: bool = True,
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send one HTTP request to the app at `FUNCTIONS_URL`."""
    sent = {**(headers or {}), **({"x-functions-key": env["FUNCTIONS_KEY"]} if keyed else {})}
    connection = http.client.HTTPConnection(urlsplit(env["FUNCTIONS_URL"]).netloc, timeout=30)
    try:
        connection.request(method, path, body, sent)
        response = connection.getresponse()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())
    finally:
        connection.close()
