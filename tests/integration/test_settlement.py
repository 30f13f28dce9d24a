"""Dead-lettering over gRPC: what the host reads, and what each failure becomes."""

import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import UUID

import grpc
import pytest

from shared.servicebus.settlement import Settlement, SettlementError, settlement_target
from tests.integration.settlement_service import SettlementService, settlement_service

TOKEN = UUID("00112233-4455-6677-8899-aabbccddeeff")


@pytest.fixture
async def host() -> AsyncIterator[SettlementService]:
    async with settlement_service() as service:
        yield service


@asynccontextmanager
async def settlement_of(target: str, *, deadline_seconds: float = 10) -> AsyncIterator[Settlement]:
    settlement = Settlement(target, deadline_seconds=deadline_seconds)
    try:
        yield settlement
    finally:
        await settlement.close()


async def dead_letter(host: SettlementService, reason: str = "R", description: str = "D") -> None:
    async with settlement_of(host.target) as settlement:
        await settlement.dead_letter(TOKEN, reason=reason, description=description)


async def test_the_request_is_octet_for_octet_what_the_host_reads(host: SettlementService) -> None:
    await dead_letter(host, "Bad", "é")
    # Fields 1, 3 and 4 are length-delimited: tag = field << 3 | 2. A StringValue is a message whose field 1 is text.
    token = b"\x0a\x24" + b"00112233-4455-6677-8899-aabbccddeeff"
    assert host.requests == [token + b"\x1a\x05\x0a\x03Bad" + b"\x22\x04\x0a\x02\xc3\xa9"]


async def test_token_reason_and_description_arrive(host: SettlementService) -> None:
    await dead_letter(host, "RequestHashMismatch", "the key was taken by a message with other content")
    (request,) = host.decoded
    assert request.lock_token == str(TOKEN)
    assert request.reason == "RequestHashMismatch"
    assert request.description == "the key was taken by a message with other content"
    assert request.properties_to_modify == b""


async def test_texts_are_cut_to_256_and_1024_characters(host: SettlementService) -> None:
    await dead_letter(host, "r" * 256 + "x", "d" * 1024 + "x")
    (request,) = host.decoded
    assert request.reason == "r" * 256
    assert request.description == "d" * 1024


async def test_texts_at_the_limit_arrive_whole_whatever_their_size_in_octets(host: SettlementService) -> None:
    await dead_letter(host, "ä" * 256, "漢" * 1023 + "🛒")
    (request,) = host.decoded
    assert request.reason == "ä" * 256
    assert request.description == "漢" * 1023 + "🛒"


async def test_empty_texts_arrive(host: SettlementService) -> None:
    await dead_letter(host, "", "")
    (request,) = host.decoded
    assert (request.reason, request.description) == ("", "")


async def test_lone_surrogates_become_question_marks(host: SettlementService) -> None:
    await dead_letter(host, "\ud800", "orderId: \udfff")
    (request,) = host.decoded
    assert (request.reason, request.description) == ("?", "orderId: ?")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (grpc.StatusCode.FAILED_PRECONDITION, f"LockToken {TOKEN} not found."),
        (grpc.StatusCode.UNKNOWN, "Azure.Messaging.ServiceBus.ServiceBusException: ... (SessionLockLost)"),
        (grpc.StatusCode.UNIMPLEMENTED, "Method is unimplemented."),
    ],
    ids=lambda value: value.name if isinstance(value, grpc.StatusCode) else "",
)
async def test_a_refusal_raises_with_the_status_alone(
    host: SettlementService, code: grpc.StatusCode, text: str
) -> None:
    host.refusal = (code, text)
    with pytest.raises(SettlementError) as raised:
        await dead_letter(host)
    assert str(raised.value) == f"dead-letter: {code.name}"


async def test_a_refusal_is_not_sent_again(host: SettlementService) -> None:
    host.refusal = (grpc.StatusCode.UNKNOWN, "refused")
    with pytest.raises(SettlementError):
        await dead_letter(host)
    assert len(host.requests) == 1


async def test_the_channel_works_after_a_refusal(host: SettlementService) -> None:
    async with settlement_of(host.target) as settlement:
        host.refusal = (grpc.StatusCode.FAILED_PRECONDITION, "not found")
        with pytest.raises(SettlementError):
            await settlement.dead_letter(TOKEN, reason="first", description="")
        host.refusal = None
        await settlement.dead_letter(TOKEN, reason="second", description="")
    assert [request.reason for request in host.decoded] == ["first", "second"]


async def test_no_answer_raises_at_the_deadline(host: SettlementService) -> None:
    host.answers = False
    started = time.monotonic()
    async with settlement_of(host.target, deadline_seconds=1) as settlement:
        with pytest.raises(SettlementError, match=r"dead-letter: (DEADLINE_EXCEEDED|no answer in time)"):
            await settlement.dead_letter(TOKEN, reason="R", description="D")
    assert time.monotonic() - started < 6
    assert len(host.requests) == 1


async def test_a_host_that_takes_the_connection_and_says_nothing_raises_at_the_deadline() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        async with settlement_of(f"127.0.0.1:{silent.getsockname()[1]}", deadline_seconds=0.3) as settlement:
            with pytest.raises(SettlementError):
                await settlement.dead_letter(TOKEN, reason="R", description="D")


async def test_a_host_that_is_gone_raises() -> None:
    async with settlement_service() as gone:
        target = gone.target
    async with settlement_of(target) as settlement:
        with pytest.raises(SettlementError, match="dead-letter: UNAVAILABLE"):
            await settlement.dead_letter(TOKEN, reason="R", description="D")


async def test_a_proxy_for_the_world_outside_is_not_asked(
    host: SettlementService, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A port where nobody listens: whoever asks this proxy fails.
    with socket.create_server(("127.0.0.1", 0)) as closed:
        nobody = f"http://127.0.0.1:{closed.getsockname()[1]}"
    for name in ("http_proxy", "https_proxy", "grpc_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, nobody)
    for name in ("no_proxy", "no_grpc_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    await dead_letter(host)
    assert len(host.requests) == 1


@pytest.mark.parametrize(
    ("arguments", "target"),
    [
        (["worker.py", "--functions-uri", "http://127.0.0.1:41001/"], "127.0.0.1:41001"),
        (["worker.py", "--host", "127.0.0.1", "--port", "41001"], "127.0.0.1:41001"),
        (
            [
                *("worker.py", "--host", "127.0.0.1", "--port", "41001", "--workerId", "w", "--requestId", "r"),
                *("--grpcMaxMessageLength", "2147483647", "--functions-uri", "http://127.0.0.1:41002/"),
            ],
            "127.0.0.1:41002",
        ),
        (["pytest", "tests"], None),
        (["worker.py", "--host", "127.0.0.1"], None),
        ([], None),
    ],
)
def test_the_endpoint_is_read_from_the_workers_command_line(arguments: list[str], target: str | None) -> None:
    assert settlement_target(arguments) == target
