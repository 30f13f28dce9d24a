"""A store that refuses us, or has no such container: the message comes again, and a person is told."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.idempotency.disposition import Complete, Retry
from shared.idempotency.errors import StoreAccessError
from tests.integration.emulators import TOPOLOGY, Emulator, emulator
from tests.integration.order_store import KEY, OTHER_KEY, OrderStore, new_order, order_store
from tests.integration.store_proxy import Answered, StoreProxy

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.fixture
def elsewhere(proxy: StoreProxy) -> Iterator[StoreProxy]:
    """The proxy, to be pointed at another store; afterwards it is back at its own."""
    port = proxy.upstream_port
    yield proxy
    proxy.upstream_port = port


@pytest.mark.usefixtures("proxy")
async def test_a_wrong_key_alerts(account: Emulator) -> None:
    async with order_store(account.port, key=OTHER_KEY) as refused:
        assert await refused.handle(new_order()) == Retry("store access denied 401", alert=True)
        with pytest.raises(StoreAccessError, match="store access denied 401"):
            await refused.store.read("readiness", "readiness")


async def test_a_key_that_was_changed_under_a_warm_client_alerts(orders: OrderStore, elsewhere: StoreProxy) -> None:
    with emulator("cosmos", "--key", OTHER_KEY) as other:
        elsewhere.upstream_port = other.port
        assert await orders.handle(new_order()) == Retry("store access denied 401", alert=True)
        assert await orders.handle(new_order(), count=2) == Retry("store access denied 401", alert=True)


@pytest.mark.parametrize("sub_status", [{}, {"x-ms-substatus": "1003"}], ids=["as of the container", "as of its owner"])
async def test_a_container_that_is_missing_from_the_beginning_alerts(
    proxy: StoreProxy, sub_status: dict[str, str]
) -> None:
    async with order_store(proxy.port) as missing:
        await missing.database.enter()
        proxy.metadata_fault = Answered(404, sub_status)
        try:
            assert await missing.handle(new_order()) == Retry("store access denied 404", alert=True)
            # What readiness asks for.
            with pytest.raises(StoreAccessError, match="store access denied 404"):
                await missing.store.read("readiness", "readiness")
        finally:
            proxy.metadata_fault = None
        assert await missing.handle(new_order()) == Complete("applied")


async def test_a_container_of_another_name_alerts(proxy: StoreProxy) -> None:
    async with order_store(proxy.port, container="nowhere") as missing:
        assert await missing.handle(new_order()) == Retry("store access denied 404", alert=True)


async def test_a_container_that_is_deleted_under_a_warm_client_alerts(
    orders: OrderStore, elsewhere: StoreProxy, tmp_path: Path
) -> None:
    topology = json.loads(TOPOLOGY.read_text(encoding="utf-8"))
    topology["cosmos"]["containers"] = {"others": {"partitionKey": "/orderId"}}
    (tmp_path / "topology.json").write_text(json.dumps(topology), encoding="utf-8")
    with emulator("cosmos", "--key", KEY, topology=tmp_path / "topology.json") as other:
        elsewhere.upstream_port = other.port
        for count in (1, 2):
            assert await orders.handle(new_order(), count=count) == Retry("store access denied 404", alert=True)


@pytest.mark.parametrize("status", [400, 409, 429, 503])
async def test_what_the_store_says_of_the_container_is_no_fault_of_the_message(proxy: StoreProxy, status: int) -> None:
    async with order_store(proxy.port) as cold:
        await cold.database.enter()
        proxy.metadata_fault = Answered(status)
        try:
            disposition = await cold.within(tries_max=2).handle(new_order())
        finally:
            proxy.metadata_fault = None
        assert isinstance(disposition, Retry)
        assert await cold.handle(new_order()) == Complete("applied")
