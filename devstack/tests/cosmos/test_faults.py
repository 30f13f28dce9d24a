"""Faults that a test asks for, as the real SDK meets them."""

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from azure.core.exceptions import AzureError, ServiceRequestError
from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import ContainerProxy, CosmosClient
from azure.cosmos.exceptions import (
    CosmosBatchOperationError,
    CosmosHttpResponseError,
    CosmosResourceExistsError,
    CosmosResourceNotFoundError,
)

from devstack.cosmos.faults.rules import FaultBook
from devstack.tests.cosmos.environment import Emulator, StartEmulator

pytestmark = pytest.mark.asyncio(loop_scope="module")


class Control:
    """The control API, from outside."""

    def __init__(self, url: str) -> None:
        self._url = url

    def request(self, method: str, body: bytes | None = None) -> bytes:
        with urllib.request.urlopen(urllib.request.Request(self._url, body, method=method)) as answer:  # noqa: S310 - loopback
            return bytes(answer.read())

    def ask(self, fault: dict[str, Any], **rule: Any) -> None:  # noqa: ANN401 - JSON
        self.request("POST", json.dumps({"fault": fault, **rule}).encode())

    def met(self) -> list[int]:
        return [entry["met"] for entry in json.loads(self.request("GET"))]


@pytest.fixture(scope="module")
def faulty(start_emulator: StartEmulator) -> Emulator:
    return start_emulator("--control-port", "0")


@pytest.fixture
def control(faulty: Emulator) -> Iterator[Control]:
    opened = Control(faulty.control + "/faults")
    yield opened
    opened.request("DELETE")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def container(faulty: Emulator) -> AsyncIterator[ContainerProxy]:
    # One try: what the SDK sends again would meet no fault.
    client = CosmosClient.from_connection_string(
        faulty.connection_string,
        transport=AioHttpTransport(use_env_settings=False),
        connection_timeout=1,
        read_timeout=1,
        retry_total=0,
        retry_connect=0,
        retry_read=0,
        retry_throttle_total=1,
        retry_throttle_backoff_max=1,
    )
    async with client:
        opened = client.get_database_client("shop").get_container_client("orders")
        with pytest.raises(CosmosResourceNotFoundError):
            await opened.read_item("nothing", "nowhere")
        yield opened


async def ids(container: ContainerProxy, partition: str) -> list[str]:
    return sorted([item["id"] async for item in container.query_items("SELECT * FROM c", partition_key=partition)])


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 410, 412, 413, 449, 500, 503])
async def test_a_status_without_effect(control: Control, container: ContainerProxy, status: int) -> None:
    partition = f"status-{status}"
    # The SDK itself sends some of them again.
    control.ask({"type": "answer", "status": status}, on="create", partition=partition, times=20)
    with pytest.raises(CosmosHttpResponseError) as caught:
        await container.create_item({"id": "1", "orderId": partition})
    assert caught.value.status_code == status
    control.request("DELETE")
    assert await ids(container, partition) == []


async def test_a_status_after_the_effect(control: Control, container: ContainerProxy) -> None:
    control.ask({"type": "answer", "status": 408, "applied": True}, on="create", partition="lost")
    with pytest.raises(CosmosHttpResponseError) as caught:
        await container.create_item({"id": "1", "orderId": "lost"})
    assert caught.value.status_code == 408
    assert await ids(container, "lost") == ["1"]


@pytest.mark.parametrize("applied", [False, True])
async def test_a_reset(control: Control, container: ContainerProxy, applied: bool) -> None:
    partition = f"reset-{applied}"
    control.ask({"type": "reset", "applied": applied}, on="write", partition=partition)
    with pytest.raises(ServiceRequestError):
        await container.create_item({"id": "1", "orderId": partition})
    assert await ids(container, partition) == (["1"] if applied else [])
    assert control.met() == [1]


@pytest.mark.parametrize("applied", [False, True])
async def test_an_answer_that_never_comes(control: Control, container: ContainerProxy, applied: bool) -> None:
    partition = f"hang-{applied}"
    control.ask({"type": "hang", "applied": applied}, on="batch", partition=partition)
    with pytest.raises((AzureError, TimeoutError)):
        async with asyncio.timeout(0.5):
            await container.execute_item_batch([("create", ({"id": "1", "orderId": partition},))], partition)
    assert await ids(container, partition) == (["1"] if applied else [])


async def test_throttling_tells_how_long(control: Control, container: ContainerProxy) -> None:
    control.ask({"type": "answer", "status": 429, "retryAfterMs": 7}, on="create", partition="hot", times=2)
    with pytest.raises(CosmosHttpResponseError) as caught:
        await container.create_item({"id": "1", "orderId": "hot"})
    assert (caught.value.status_code, caught.value.headers["x-ms-retry-after-ms"]) == (429, "7")
    assert control.met() == [2]


async def test_one_operation_of_a_batch_is_blamed(control: Control, container: ContainerProxy) -> None:
    control.ask({"type": "answer", "status": 403, "subStatus": 1014, "operation": 1}, on="batch", partition="full")
    operations = [("create", ({"id": str(number), "orderId": "full"},)) for number in range(3)]
    with pytest.raises(CosmosBatchOperationError) as caught:
        await container.execute_item_batch(operations, "full")
    assert (caught.value.error_index, caught.value.status_code) == (1, 403)
    assert [result["statusCode"] for result in caught.value.operation_responses] == [424, 403, 424]
    assert caught.value.operation_responses[1]["subStatusCode"] == 1014
    assert await ids(container, "full") == []


async def test_a_replica_that_is_behind_after_a_write(control: Control, container: ContainerProxy) -> None:
    control.ask({"type": "answer", "status": 404}, on="read", partition="late", after="create", times=2)
    await container.create_item({"id": "1", "orderId": "late"})
    with pytest.raises(CosmosResourceExistsError):
        await container.create_item({"id": "1", "orderId": "late"})
    for _ in range(2):
        with pytest.raises(CosmosResourceNotFoundError):
            await container.read_item("1", "late")
    assert (await container.read_item("1", "late"))["id"] == "1"


async def test_others_do_not_meet_it(control: Control, container: ContainerProxy) -> None:
    control.ask({"type": "answer", "status": 503}, on="create", partition="mine", times=None)
    await container.create_item({"id": "1", "orderId": "yours"})
    await container.upsert_item({"id": "1", "orderId": "mine"})
    assert control.met() == [0]


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        (b"{", "truncated"),
        (b"{}", "missing required field `fault`"),
        (b'{"fault":{"type":"explode"}}', "Invalid value 'explode' - at `$.fault.type`"),
        (b'{"fault":{"type":"hang"},"on":"reads"}', "Invalid enum value 'reads' - at `$.on`"),
        (b'{"fault":{"type":"hang"},"time":1}', "unknown field `time`"),
    ],
)
async def test_what_is_no_fault_is_told(control: Control, body: bytes, rule: str) -> None:
    with pytest.raises(urllib.error.HTTPError) as caught:
        control.request("POST", body)
    with caught.value as answer:
        assert answer.code == 400
        assert rule in answer.read().decode()
    assert control.met() == []


async def test_without_the_option_there_is_no_control(emulator: Emulator) -> None:
    assert emulator.control == ""


async def test_a_fault_ends_with_its_time() -> None:
    now = 10.0
    book = FaultBook(lambda: now)
    book.add(b'{"fault":{"type":"answer","status":429},"on":"write","seconds":2,"times":null}')
    assert [book.take("batch", "a") is not None, book.take("read", "a") is not None] == [True, False]
    now = 11.9
    assert book.take("patch", None) is not None
    now = 12.0
    assert book.take("batch", "a") is None
    assert book.report()[0]["met"] == 2
