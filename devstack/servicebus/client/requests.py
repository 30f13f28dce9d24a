"""Requests to `$cbs` and `$management`: one pair of links per node, answers found by correlation id."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from devstack.servicebus.amqp import encode
from devstack.servicebus.amqp.events import LinkAttached, LinkDetached, LinkEvent, MessageArrived
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.amqp.performatives import Accepted, Source, Target
from devstack.servicebus.amqp.sections import Sections
from devstack.servicebus.amqp.types import Value
from devstack.servicebus.client.errors import ServiceBusClientError, link_error

if TYPE_CHECKING:
    from devstack.servicebus.client.wire import Wire

_ANSWER_CREDIT: Final = 100


class RequestLinks:
    """A request link and an answer link to one node, in a session of their own."""

    def __init__(self, wire: "Wire", node: str) -> None:
        self._wire = wire
        name = wire.new_name(node)
        self._reply_to = name
        self._session = wire.engine.begin_session()
        self._answers = self._session.attach_receiver(name, Source(node), target=Target(name))
        self._requests = self._session.attach_sender(name + "-requests", Target(node), source=Source(name))
        self._pending: dict[str, asyncio.Future[Message]] = {}
        self._changed = asyncio.Event()
        self._error: ServiceBusClientError | None = None
        self._count = 0
        wire.listen(self._answers, self)
        wire.listen(self._requests, self)
        wire.flush()

    @property
    def is_open(self) -> bool:
        """Whether requests can still be sent here."""
        return self._error is None

    async def request(self, properties: Mapping[Value, Value], body: Value) -> Message:
        """Send a request and wait for its answer.

        Raises:
            EntityNotFound, NotAuthorized: the node refuses the links.
            ConnectionLost: the connection is gone, or the answer did not come in time.
        """
        async with self._wire.operation():
            while self._requests.credit < 1:
                self._raise_if_gone()
                self._changed.clear()
                await self._changed.wait()
            self._raise_if_gone()
            self._count += 1
            request_id = f"{self._reply_to}-{self._count}"
            future: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
            self._pending[request_id] = future
            try:
                self._requests.send(self._encode(request_id, properties, body), self._count.to_bytes(4))
                self._wire.flush()
                return await future
            finally:
                del self._pending[request_id]

    def on_event(self, event: LinkEvent) -> None:
        """Take an answer, or a change of the links."""
        match event:
            case LinkAttached(link) if link is self._answers:
                self._answers.credit_window = _ANSWER_CREDIT
                self._answers.grant(_ANSWER_CREDIT)
            case LinkDetached(_, error):
                self.on_lost(link_error(error))
            case MessageArrived():
                self._on_answer(event)
            case _:
                pass
        self._changed.set()

    def on_lost(self, error: ServiceBusClientError) -> None:
        """Fail all requests that wait."""
        self._error = self._error or error
        self._changed.set()
        for future in self._pending.values():
            if not future.done():
                future.set_exception(self._error)

    def _on_answer(self, event: MessageArrived) -> None:
        if not event.settled:
            self._answers.settle(event.delivery_id, Accepted())
        message = Message.parse(event.payload)
        future = self._pending.get(str(message.properties.correlation_id))
        if future is not None and not future.done():
            future.set_result(message)

    def _raise_if_gone(self) -> None:
        if self._error is not None:
            raise self._error

    def _encode(self, request_id: str, properties: Mapping[Value, Value], body: Value) -> bytes:
        fields: list[Value] = [request_id, None, None, None, self._reply_to]
        return Sections(
            properties=encode.encode(fields),
            application_properties=encode.encode(dict(properties)),
            body=b"\x00\x53\x77" + encode.encode(body),
        ).encode()
