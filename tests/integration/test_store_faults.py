"""Every way in which a store call can go wrong on the wire: the order is applied once, or comes again."""

import asyncio
import time
import uuid

import pytest

from shared.idempotency.disposition import Complete, Retry
from shared.idempotency.errors import StoreUnavailableError
from shared.idempotency.ports import Create, OutcomeUnknown
from tests.integration.order_store import OrderStore, new_order, order_store
from tests.integration.store_proxy import (
    Answered,
    Fault,
    HangingAnswer,
    HangingRequest,
    LostAnswer,
    LostRequest,
    StoreProxy,
)

pytestmark = pytest.mark.asyncio(loop_scope="module")

# What a loaded machine may take on top of a bound.
SLACK_SECONDS = 5.0


async def test_a_commit_whose_answer_is_lost_is_known_by_its_own_attempt(orders: OrderStore, proxy: StoreProxy) -> None:
    order = new_order()
    proxy.faults.append(LostAnswer())
    assert await orders.handle(order) == Complete("applied")
    # The SDK does not send it again: the marker tells.
    assert (proxy.kinds, proxy.written) == (["batch", "read"], 2)
    assert set(await orders.documents(order)) == {order.order_id, "out:1"}


async def test_a_commit_that_was_lost_on_its_way_is_sent_again_by_the_engine(
    orders: OrderStore, proxy: StoreProxy
) -> None:
    order = new_order()
    proxy.faults.append(LostRequest())
    assert await orders.handle(order) == Complete("applied")
    assert (proxy.kinds, proxy.written) == (["batch", "read", "batch"], 2)
    assert set(await orders.documents(order)) == {order.order_id, "out:1"}


async def test_a_run_that_loses_three_answers_still_knows_its_own_commit(orders: OrderStore, proxy: StoreProxy) -> None:
    order = new_order()
    # Of the commit, of the marker's read, and of the SDK's second try at that.
    proxy.faults.extend([LostAnswer(), LostAnswer(), LostAnswer()])
    assert await orders.handle(order) == Complete("applied")
    assert (proxy.kinds, proxy.written) == (["batch", "read", "read", "batch", "read"], 2)
    documents = await orders.documents(order)
    assert set(documents) == {order.order_id, "out:1"}
    assert documents[order.order_id]["requestHash"].startswith("v1:")


@pytest.mark.parametrize("fault", [HangingRequest(), HangingAnswer()], ids=["request", "answer"])
async def test_a_commit_that_hangs_is_cut_off_and_the_marker_read(
    orders: OrderStore, proxy: StoreProxy, fault: Fault
) -> None:
    order = new_order()
    proxy.faults.append(fault)
    started = time.monotonic()
    assert await orders.within(store_call_seconds=0.5).handle(order) == Complete("applied")
    assert time.monotonic() - started < 0.5 + SLACK_SECONDS
    assert proxy.written == 2
    assert set(await orders.documents(order)) == {order.order_id, "out:1"}


@pytest.mark.parametrize("fault", [HangingRequest(), HangingAnswer()], ids=["request", "answer"])
async def test_the_clients_own_time_limit_is_an_unknown_outcome_too(proxy: StoreProxy, fault: Fault) -> None:
    order_id = uuid.uuid4().hex
    async with order_store(proxy.port, call_seconds=0.5) as impatient:
        await impatient.store.read(order_id, order_id)
        proxy.faults.append(fault)
        marker = Create({"id": order_id, "orderId": order_id})
        outcome = await impatient.store.commit(order_id, [marker])
        assert isinstance(outcome, OutcomeUnknown)
        assert not proxy.faults
        # The SDK sends neither again: the engine is the one that tries.
        assert proxy.kinds.count("create") == 1
        proxy.calls.clear()
        proxy.faults.append(HangingRequest())
        with pytest.raises(StoreUnavailableError, match="read: "):
            await impatient.store.read(order_id, order_id)
        assert proxy.kinds == ["read"]


async def test_a_store_that_hangs_throughout_makes_the_message_come_again(
    orders: OrderStore, proxy: StoreProxy
) -> None:
    order = new_order()
    proxy.faults.extend([HangingRequest()] * 4)
    patient = orders.within(store_call_seconds=0.5, tries_max=2)
    started = time.monotonic()
    assert await patient.handle(order) == Retry("no answer to a read in time")
    assert time.monotonic() - started < 4 * 0.5 + SLACK_SECONDS
    assert await orders.handle(order, count=2) == Complete("applied")


@pytest.mark.parametrize("status", [408, 500, 503])
async def test_an_answer_that_says_nothing_is_resolved_by_the_marker(
    orders: OrderStore, proxy: StoreProxy, status: int
) -> None:
    order = new_order()
    proxy.faults.append(Answered(status))
    assert await orders.handle(order) == Complete("applied")
    assert proxy.written == 2


async def test_a_store_that_is_gone_makes_the_message_come_again_and_never_a_dead_letter(
    orders: OrderStore, proxy: StoreProxy
) -> None:
    order = new_order()
    await proxy.stop()
    started = time.monotonic()
    try:
        for count in (1, 2, 10):
            disposition = await orders.handle(order, count=count)
            assert isinstance(disposition, Retry)
            assert not disposition.alert
    finally:
        await proxy.start()
    assert time.monotonic() - started < 3 * SLACK_SECONDS
    assert await orders.handle(order, count=11) == Complete("applied")


async def test_a_store_that_is_gone_at_the_first_call_is_found_when_it_is_back(proxy: StoreProxy) -> None:
    order = new_order()
    async with order_store(proxy.port) as cold:
        await proxy.stop()
        try:
            disposition = await cold.within(tries_max=1).handle(order)
            assert isinstance(disposition, Retry)
        finally:
            await proxy.start()
        assert await cold.handle(order, count=2) == Complete("applied")


async def test_connections_that_were_closed_while_they_were_idle_cost_nothing(
    orders: OrderStore, proxy: StoreProxy
) -> None:
    dispositions = await asyncio.gather(*(orders.handle(new_order()) for _ in range(8)))
    assert dispositions == [Complete("applied")] * 8
    await proxy.stop()
    await proxy.start()
    proxy.calls.clear()
    assert await orders.handle(new_order()) == Complete("applied")
    assert proxy.kinds == ["batch"]


async def test_a_client_that_is_closed_makes_the_message_come_again(proxy: StoreProxy) -> None:
    order = new_order()
    async with order_store(proxy.port) as closed:
        await closed.handle(new_order())
    disposition = await closed.handle(order)
    assert isinstance(disposition, Retry)
    assert not disposition.alert


async def test_an_account_that_hangs_at_the_first_call_is_read_by_the_next(proxy: StoreProxy) -> None:
    order = new_order()
    async with order_store(proxy.port) as cold:
        proxy.metadata_fault = HangingRequest()
        started = time.monotonic()
        try:
            disposition = await cold.within(store_call_seconds=0.3, tries_max=1).handle(order)
        finally:
            proxy.metadata_fault = None
        assert time.monotonic() - started < 2 * 0.3 + SLACK_SECONDS
        assert isinstance(disposition, Retry)
        assert await cold.handle(order) == Complete("applied")
        # The client has its session all the same; the SDK keeps it from the first document on that it has read.
        for _ in range(2):
            await cold.store.read(order.order_id, order.order_id)
        assert "x-ms-session-token" in proxy.calls[-1].headers
