"""What an order costs, counted on the wire: engine, store, SDK, and every request that goes out."""

import asyncio
import json
import uuid

import pytest

from shared.idempotency.disposition import Complete, DeadLetter, Retry
from shared.idempotency.ports import Committed, Create, Document, MarkerExists, Replace
from tests.integration.emulators import Emulator
from tests.integration.order_store import OrderStore, new_order, order_store
from tests.integration.store_proxy import Answered, StoreProxy

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_new_order_with_its_event_is_one_call_and_two_documents(orders: OrderStore, proxy: StoreProxy) -> None:
    assert await orders.handle(new_order()) == Complete("applied")
    assert (proxy.kinds, proxy.written) == (["batch"], 2)


async def test_a_duplicate_on_its_first_delivery_is_two_calls_and_no_document(
    orders: OrderStore, proxy: StoreProxy
) -> None:
    order = new_order()
    await orders.handle(order)
    proxy.calls.clear()
    assert await orders.handle(order, suffix="copy1") == Complete("duplicate")
    assert (proxy.kinds, proxy.written) == (["batch", "read"], 0)


async def test_a_redelivered_duplicate_is_one_call(orders: OrderStore, proxy: StoreProxy) -> None:
    order = new_order()
    await orders.handle(order)
    proxy.calls.clear()
    assert await orders.handle(order, count=2) == Complete("duplicate")
    assert (proxy.kinds, proxy.written) == (["read"], 0)


async def test_a_redelivery_that_was_not_applied_costs_one_call_more(orders: OrderStore, proxy: StoreProxy) -> None:
    assert await orders.handle(new_order(), count=2) == Complete("applied")
    assert (proxy.kinds, proxy.written) == (["read", "batch"], 2)


async def test_a_mismatch_is_two_calls_and_changes_nothing(orders: OrderStore, proxy: StoreProxy) -> None:
    order = new_order()
    await orders.handle(order)
    before = await orders.documents(order)
    proxy.calls.clear()
    disposition = await orders.handle(new_order(order.order_id, currency="EUR"))
    assert isinstance(disposition, DeadLetter)
    assert disposition.reason == "RequestHashMismatch"
    assert (proxy.kinds, proxy.written) == (["batch", "read"], 0)
    assert await orders.documents(order) == before


async def test_each_call_of_the_store_is_one_request(orders: OrderStore, proxy: StoreProxy) -> None:
    order_id = uuid.uuid4().hex
    document: Document = {"id": order_id, "orderId": order_id, "n": 1}
    assert await orders.store.commit(order_id, [Create(document)]) == Committed()
    stored = await orders.store.read(order_id, order_id)
    assert stored is not None
    replaced = Replace({**document, "n": 2}, stored.etag)
    assert await orders.store.commit(order_id, [replaced, Create({**document, "id": "other"})]) == Committed()
    assert await orders.store.read(order_id, "nothing") is None
    assert proxy.kinds == ["create", "read", "batch", "read"]
    assert proxy.written == 3


async def test_what_refused_a_write_of_ours_is_read_by_the_next_call(
    orders: OrderStore, proxy: StoreProxy, account: Emulator
) -> None:
    order_id = uuid.uuid4().hex
    async with order_store(account.port) as other:
        assert await other.store.commit(order_id, [Create({"id": order_id, "orderId": order_id})]) == Committed()
    mine = Create({"id": order_id, "orderId": order_id, "mine": True})
    assert await orders.store.commit(order_id, [mine]) == MarkerExists()
    stored = await orders.store.read(order_id, order_id)
    assert stored is not None
    assert "mine" not in stored.body
    # The session token that came with the refusal: a replica that is behind it may not answer.
    assert proxy.calls[-1].headers.get("x-ms-session-token", "none").startswith("0:")


async def test_a_create_asks_for_no_answer_and_sends_text_unescaped(orders: OrderStore, proxy: StoreProxy) -> None:
    order_id = uuid.uuid4().hex
    await orders.store.commit(order_id, [Create({"id": order_id, "orderId": order_id, "text": "grün 漢"})])
    (call,) = proxy.calls
    assert call.headers["Prefer"] == "return=minimal"
    assert '"grün 漢"'.encode() in call.body
    assert b", " not in call.body


async def test_a_new_order_is_sent_with_its_marker_first(orders: OrderStore, proxy: StoreProxy) -> None:
    order = new_order()
    await orders.handle(order)
    (call,) = proxy.calls
    assert call.headers["x-ms-cosmos-batch-atomic"] == "True"
    operations = json.loads(call.body)
    assert [entry["operationType"] for entry in operations] == ["Create", "Create"]
    assert [entry["resourceBody"]["id"] for entry in operations] == [order.order_id, "out:1"]


@pytest.mark.usefixtures("proxy")
async def test_a_proxy_of_the_environment_is_not_asked(account: Emulator, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        # Nobody listens on port 1: whoever asks this proxy fails.
        monkeypatch.setenv(name, "http://127.0.0.1:1")
        monkeypatch.setenv(name.upper(), "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with order_store(account.port) as direct:
        assert await direct.handle(new_order()) == Complete("applied")


async def test_throttling_is_waited_for_and_costs_the_message_nothing(orders: OrderStore, proxy: StoreProxy) -> None:
    order = new_order()
    # The SDK sends a throttled request once more; then the engine tries again.
    proxy.faults.extend([Answered(429, {"x-ms-retry-after-ms": "1"})] * 2)
    assert await orders.handle(order) == Complete("applied")
    assert (proxy.kinds, proxy.written) == (["batch"] * 3, 2)


async def test_the_sdk_sends_a_throttled_request_once_more_and_no_longer(orders: OrderStore, proxy: StoreProxy) -> None:
    proxy.faults.extend([Answered(429, {"x-ms-retry-after-ms": "1"})] * 2)
    assert await orders.within(tries_max=1).handle(new_order()) == Retry("throttled")
    assert proxy.kinds == ["batch"] * 2


async def test_callers_that_come_at_once_to_a_cold_client_read_the_account_once(proxy: StoreProxy) -> None:
    async with order_store(proxy.port) as cold:
        assert proxy.calls == []
        assert await cold.handle(new_order()) == Complete("applied")
    alone = account_reads(proxy)
    assert alone > 0
    proxy.calls.clear()
    async with order_store(proxy.port) as cold:
        dispositions = await asyncio.gather(*(cold.handle(new_order()) for _ in range(10)))
    assert dispositions == [Complete("applied")] * 10
    assert account_reads(proxy) == alone


def account_reads(proxy: StoreProxy) -> int:
    return sum(call.path == "/" for call in proxy.calls)
