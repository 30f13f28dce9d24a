"""One store per module, reached through a proxy by a client that is warm."""

from collections.abc import AsyncIterator, Iterator

import pytest
import pytest_asyncio

from tests.integration.emulators import Emulator, emulator
from tests.integration.order_store import KEY, OrderStore, new_order, order_store
from tests.integration.store_proxy import StoreProxy, store_proxy


@pytest.fixture(scope="module")
def account() -> Iterator[Emulator]:
    with emulator("cosmos", "--key", KEY) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def _proxy(account: Emulator) -> AsyncIterator[StoreProxy]:
    async with store_proxy(account.port) as running:
        yield running


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def orders(_proxy: StoreProxy) -> AsyncIterator[OrderStore]:
    """The app's engine; its client has read and written, so that it knows account, container and key ranges."""
    async with order_store(_proxy.port) as opened:
        await opened.handle(new_order(), count=2)
        yield opened


@pytest.fixture
def proxy(_proxy: StoreProxy, orders: OrderStore) -> Iterator[StoreProxy]:
    """The proxy with nothing written down; every fault that a test gives must happen."""
    _proxy.calls.clear()
    yield _proxy
    left = list(_proxy.faults)
    _proxy.faults.clear()
    assert not left
