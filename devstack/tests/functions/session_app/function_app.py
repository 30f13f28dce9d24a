"""A function app for the session tests; its text is copied into an app directory, never imported here.

A message's body is its order: ``return``, ``raise``, ``raise once``, ``dead-letter``, ``dead-letter and
raise``, ``complete`` (by the Settlement service), ``unknown token``, ``settle the last one``, ``wait`` (until
the file $GATE is there), ``sleep SECONDS``. Each run appends to the file $RUNS one line of JSON at its start
and one at its end.
"""

import asyncio
import json
import os
import sys
from pathlib import Path
from uuid import UUID

import azure.functions as func
import grpc
from azure.servicebus import ServiceBusReceivedMessage
from azurefunctions.extensions.base import Datum, InConverter, SdkType


class Message(SdkType):  # type: ignore[misc]
    """The lock token and the decoded message."""

    def __init__(self, content: bytes) -> None:
        super().__init__(data={})
        self.token_in_front = content[:16]
        self.received = ServiceBusReceivedMessage.from_bytes(content[16:])

    def get_sdk_type(self) -> ServiceBusReceivedMessage:
        return self.received


class MessageConverter(  # type: ignore[call-arg]
    InConverter,  # type: ignore[misc]
    binding="serviceBus",
    trigger="serviceBusTrigger",
):
    @classmethod
    def check_input_type_annotation(cls, pytype: type) -> bool:
        return issubclass(pytype, Message)

    @classmethod
    def decode(cls, data: Datum, *, trigger_metadata: object, pytype: type) -> Message:
        value = data.value
        assert (value.version, value.source) == ("1.0", "AzureServiceBusReceivedMessage")
        assert value.content_type == "application/octet-stream"
        return Message(value.content)

    @classmethod
    def has_implicit_output(cls) -> bool:
        return False


app = func.FunctionApp()
last_token = ""


def record(**entry: object) -> None:
    with Path(os.environ["RUNS"]).open("a") as runs:
        runs.write(json.dumps(entry) + "\n")


def field(number: int, octets: bytes) -> bytes:
    return bytes((number << 3 | 2, len(octets))) + octets


async def settle(method: str, request: bytes) -> str:
    host, port = (sys.argv[sys.argv.index(name) + 1] for name in ("--host", "--port"))
    async with grpc.aio.insecure_channel(f"{host}:{port}") as channel:
        try:
            answer = await channel.unary_unary(f"/Settlement/{method}")(request, timeout=10)
        except grpc.aio.AioRpcError as error:
            return f"{error.code().name}: {error.details()}"
        return f"OK {answer!r}"


async def obey(order: str, token: str, delivery_count: int) -> str | None:
    dead_letter = field(1, token.encode()) + field(3, field(1, b"Bad")) + field(4, field(1, b"as asked"))
    match order.split():
        case ["raise"]:
            raise RuntimeError("as asked")
        case ["raise", "once"] if delivery_count == 1:
            raise RuntimeError("as asked, once")
        case ["dead-letter", *rest]:
            answer = await settle("Deadletter", dead_letter)
            if rest:
                raise RuntimeError("as asked, after dead-lettering")
            return answer
        case ["complete"]:
            return await settle("Complete", field(1, token.encode()))
        case ["unknown", "token"]:
            return await settle("Complete", field(1, b"00000000-0000-0000-0000-000000000001"))
        case ["settle", "the", "last", "one"]:
            return await settle("Complete", field(1, last_token.encode()))
        case ["long", "reason"]:
            return await settle("Deadletter", field(1, token.encode()) + b"\x1a\x84\x20\x0a\x81\x20" + b"x" * 4097)
        case ["wait"]:
            while not Path(os.environ["GATE"]).exists():  # noqa: ASYNC110, ASYNC240 - another process makes it
                await asyncio.sleep(0.02)
        case ["sleep", seconds]:
            await asyncio.sleep(float(seconds))
    return None


@app.service_bus_queue_trigger(
    arg_name="message",
    queue_name="%QUEUE%",
    connection="Bus",
    is_sessions_enabled=True,
    auto_complete_messages=True,
)
async def work(message: Message) -> None:
    global last_token
    received = message.received
    token = str(received.lock_token)
    assert isinstance(received.lock_token, UUID)
    assert message.token_in_front == received.lock_token.bytes_le
    assert received.delivery_count is not None
    seen = {
        "id": received.message_id,
        "session": received.session_id,
        "count": received.delivery_count,
        "sequence": received.sequence_number,
        "locked": received.locked_until_utc is not None,
        "worker": os.getpid(),
    }
    record(**seen, at="start")
    try:
        answer = await obey(b"".join(received.body).decode(), token, received.delivery_count)
    except RuntimeError as error:
        record(**seen, at="end", answer=str(error))
        raise
    record(**seen, at="end", answer=answer)
    last_token = token


@app.route(route="pid")
async def pid(req: func.HttpRequest) -> str:
    return str(os.getpid())
