"""Operations of an order in any sequence: what is applied, parked, drained, sent back, and what it costs."""

from decimal import Decimal

from shared.convoy.waiting import drain_what_is_due
from shared.idempotency.disposition import Complete, DeadLetter, Retry
from shared.idempotency.json_text import Json
from shared.idempotency.ports import Document, OutcomeUnknown
from tests.unit.convoy_bench import ORDER, Instance, added, amended, deleted, placed, voided
from tests.unit.scripted_store import Applied

APPLIED, PARKED, DUPLICATE = Complete("applied"), Complete("parked"), Complete("duplicate")


def message_of(outbox: Document) -> dict[str, Json]:
    message = outbox["message"]
    assert isinstance(message, dict)
    return message


async def test_operations_apply_in_turn() -> None:
    app = Instance()
    for operation in (placed(), added(2, amount="10.50"), amended(3, "t2", "4.25"), voided(4), added(5, amount="-1")):
        assert await app.handle(operation) in (APPLIED, Complete("ignored"))
    assert (app.order["lastSequence"], app.order["eventSequence"]) == (5, 4)
    assert (app.order["transactionCount"], app.order["transactionTotal"]) == (2, "3.25")
    assert app.documents()["tx:t2"]["amount"] == "4.25"
    assert (app.order["closed"], app.order["parked"]) == (False, {})
    assert not {"waitingSince", "drainSince"} & app.order.keys()


async def test_what_comes_early_waits_and_applies_by_itself() -> None:
    app = Instance()
    for early in (added(4), added(3), added(2)):
        assert await app.handle(early) == PARKED
    assert app.order["parked"] == {"2": "o2", "3": "o3", "4": "o4"}
    assert app.order["lastSequence"] == 0
    assert "waitingSince" in app.order
    assert app.documents()["op:o3"]["state"] == "parked"
    assert await app.handle(placed()) == APPLIED
    assert (app.order["lastSequence"], app.order["parked"]) == (4, {})
    assert not {"waitingSince", "drainSince"} & app.order.keys()
    assert {body["state"] for key, body in app.documents().items() if key.startswith("op:")} == {"applied"}
    events = [message_of(app.documents()[f"out:{number}"])["body"] for number in range(1, 5)]
    assert [event["id"] for event in events if isinstance(event, dict)] == [f"A1:{number}" for number in range(1, 5)]


async def test_a_parked_operation_sent_again_is_a_duplicate_and_a_changed_one_a_mismatch() -> None:
    app = Instance()
    await app.handle(placed())
    await app.handle(added(3))
    assert await app.handle(added(3), suffix="copy1") == DUPLICATE
    found = await app.handle(added(3, amount="2"))
    assert isinstance(found, DeadLetter)
    assert found.reason == "RequestHashMismatch"
    assert app.order["parked"] == {"3": "o3"}


async def test_a_number_is_given_once() -> None:
    app = Instance()
    await app.handle(placed())
    await app.handle(added(2))
    await app.handle(added(4))
    for rival in (voided(2, "rival"), voided(4, "rival")):
        found = await app.handle(rival)
        assert isinstance(found, DeadLetter)
        assert found.reason == "SequenceConflict"


async def test_a_close_sends_back_what_it_leaves_behind_and_takes_nothing_more() -> None:
    app = Instance()
    await app.handle(placed())
    await app.handle(added(3))
    await app.handle(added(5))
    assert await app.handle(added(2, last=True)) == APPLIED
    assert (app.order["closed"], app.order["parked"], app.order["lastSequence"]) == (True, {}, 2)
    assert "op:o3" not in app.documents()
    back = {
        str(message_of(body)["messageId"]) for body in app.documents().values() if body.get("destination") == "orders"
    }
    assert {message_id.partition("~")[0] for message_id in back} == {"o3", "o5"}
    assert {message_id.rpartition("~")[2] for message_id in back} == {"b3", "b4"}
    late = await app.handle(added(3), suffix="b3")
    assert isinstance(late, DeadLetter)
    assert late.reason == "OrderClosed"


async def test_a_tombstone_closes() -> None:
    app = Instance()
    await app.handle(placed())
    assert await app.handle(deleted(2)) == APPLIED
    assert (app.order["state"], app.order["closed"]) == ("deleted", True)


async def test_one_that_is_rejected_at_its_turn_is_sent_back_and_its_number_is_open_again() -> None:
    app = Instance()
    await app.handle(placed())
    await app.handle(amended(3, "nothing"))
    await app.handle(added(4))
    assert await app.handle(added(2)) == APPLIED
    assert (app.order["lastSequence"], app.order["parked"]) == (2, {"4": "o4"})
    (back,) = [body for body in app.documents().values() if body.get("destination") == "orders"]
    assert message_of(back)["sessionId"] == ORDER
    assert message_of(back)["body"] == {
        "type": "TransactionAmended", "schemaVersion": 1, "orderId": ORDER, "operationId": "o3", "sequence": 3,
        "occurredAt": "2026-03-02T09:30:00Z", "endOfSequence": False, "transactionId": "nothing", "amount": "9",
    }  # fmt: skip
    again = await app.handle(amended(3, "nothing"), suffix="b3")
    assert isinstance(again, DeadLetter)
    assert again.reason == "TransactionNotFound"
    # The corrected one, under the same number.
    assert await app.handle(amended(3, "t2", "2")) == APPLIED
    assert (app.order["lastSequence"], app.order["parked"]) == (4, {})


async def test_what_is_due_goes_first_and_may_free_a_number() -> None:
    without_time = Instance(drain_seconds=0.0)
    await without_time.handle(placed())
    for number in range(3, 24):
        await without_time.handle(added(number))
    await without_time.handle(amended(24, "nothing"))
    await without_time.handle(added(2))
    # One commit of the drain, and no time for another.
    assert (without_time.order["lastSequence"], without_time.order["parked"]) == (22, {"23": "o23", "24": "o24"})
    # What waits under number 24 is rejected at its turn; the number is then this one's.
    assert await Instance(beside=without_time).handle(added(24, key="other")) == APPLIED
    assert (without_time.order["lastSequence"], without_time.order["parked"]) == (24, {})


async def test_no_more_than_the_cap_wait() -> None:
    app = Instance(parked_max=2)
    await app.handle(placed())
    assert await app.handle(added(3)) == PARKED
    assert await app.handle(added(4)) == PARKED
    found = await app.handle(added(5))
    assert found == DeadLetter("TooManyParked", "sequence: 2 operations wait already for number 2")
    assert await app.handle(added(2)) == APPLIED
    assert app.order["lastSequence"] == 4


async def test_no_dead_letter_is_decided_on_a_cached_document() -> None:
    here = Instance(parked_max=1)
    await here.handle(placed())
    await here.handle(added(3))
    there = Instance(beside=here, parked_max=1)
    assert await there.handle(added(2)) == APPLIED
    # Here, number 3 is still thought to wait, and nothing else to have room.
    assert await here.handle(added(5)) == PARKED
    assert here.order["parked"] == {"5": "o5"}


async def test_only_a_commit_that_is_known_fills_the_cache() -> None:
    app = Instance(script={2: Applied(OutcomeUnknown("reset"))})
    await app.handle(placed())
    assert app.cache.get(ORDER) is not None
    assert await app.handle(added(2)) == APPLIED
    assert app.cache.get(ORDER) is None


async def test_a_drain_that_has_no_time_left_is_taken_up_by_the_next_delivery() -> None:
    app = await unfinished()
    assert (app.order["lastSequence"], app.order["parked"]) == (22, {"23": "o23"})
    assert "drainSince" in app.order
    assert app.documents()["op:o2"]["more"] is True
    # The marker bears `more`: its redelivery does not end before what is due is done.
    assert await Instance(beside=app).handle(added(2), count=2) == DUPLICATE
    assert (app.order["lastSequence"], app.order["parked"]) == (23, {})


async def test_a_timer_drains_what_stayed() -> None:
    app = await unfinished()
    assert await drain_what_is_due(app.memory, Instance(beside=app).engine.drain) == 1
    assert (app.order["lastSequence"], app.order["parked"]) == (23, {})
    assert await drain_what_is_due(app.memory, Instance(beside=app).engine.drain) == 0


async def unfinished() -> Instance:
    """An order whose drain was left unfinished: 21 were due, and one commit takes 20."""
    app = Instance(drain_seconds=0.0)
    await app.handle(placed())
    for number in range(3, 24):
        await app.handle(added(number))
    assert await app.handle(added(2)) == Retry("more is due than one delivery has time for")
    return app


async def test_a_transaction_that_exists_is_found_by_the_store_and_rejected() -> None:
    app = Instance()
    await app.handle(placed())
    await app.handle(added(2, transaction="t"))
    assert await app.handle(added(3, transaction="t")) == DeadLetter(
        "TransactionExists", "transactionId: t exists; amend it instead"
    )
    assert app.order["transactionTotal"] == "1"


async def test_a_long_convoy_drains_in_several_commits() -> None:
    app = Instance()
    await app.handle(placed())
    for number in range(60, 2, -1):
        await app.handle(added(number, amount="0.5"))
    assert await app.handle(added(2, amount="0.5")) == APPLIED
    assert (app.order["lastSequence"], app.order["parked"]) == (60, {})
    assert Decimal(str(app.order["transactionTotal"])) == Decimal("29.5")


async def test_what_it_costs() -> None:
    app = Instance()
    writes = app.memory.writes
    assert await app.calls_of(placed()) == ["commit A1 out:1"]
    # The next one, in the process that wrote the last: 1 call, 3 writes and the transaction.
    assert await app.calls_of(added(2)) == ["commit op:o2 A1 tx:t2 out:2"]
    assert app.memory.writes - writes == 2 + 4
    assert await app.calls_of(voided(3)) == ["commit op:o3 A1"]
    assert await app.calls_of(amended(4, "t2")) == ["read tx:t2", "commit op:o4 A1 tx:t2 out:3"]
    # In another process: 1 call more.
    assert await Instance(beside=app).calls_of(added(5)) == ["read A1", "commit op:o5 A1 tx:t5 out:4"]
    # Early, 1 or 2 calls, 2 writes; there, the document is not the last one any more.
    other = Instance(beside=app)
    assert await other.calls_of(added(7)) == ["read A1", "commit op:o7 A1"]
    assert await other.calls_of(added(8)) == ["commit op:o8 A1"]
    # A chunk of the drain: 1 query and 1 commit.
    assert await other.calls_of(added(6)) == [
        "commit op:o6 A1 tx:t6 out:5",
        "query op:o7 op:o8",
        "commit op:o7 A1 op:o8 tx:t7 tx:t8 out:6 out:7",
    ]
    # A duplicate: 2 calls at most on its first delivery, 1 on a redelivery, no write.
    writes = app.memory.writes
    assert await other.calls_of(added(2), suffix="copy1") == ["read op:o2"]
    # Its commit left more to do: that it was done is looked up.
    assert await other.calls_of(added(6), suffix="copy1") == ["read op:o6", "read A1"]
    assert await Instance(beside=app).calls_of(added(5), suffix="copy1") == ["read A1", "read op:o5"]
    assert await Instance(beside=app).calls_of(added(5), count=2) == ["read op:o5"]
    assert app.memory.writes == writes
