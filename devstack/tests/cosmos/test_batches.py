"""Batches against a dict: all or nothing, whatever is in them."""

from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from devstack.cosmos.errors import CosmosError
from devstack.cosmos.items.batch import Committed, RolledBack, execute_batch
from devstack.cosmos.items.execute import execute
from devstack.cosmos.items.operations import Create, Delete, Operation, PatchItem, Read, Replace, Upsert
from devstack.cosmos.items.partition_key import from_header
from devstack.cosmos.items.patch import parse_patch
from devstack.cosmos.json_values import Json, read_json
from devstack.cosmos.store.catalogue import Container
from devstack.cosmos.store.store import Store
from devstack.cosmos.topology import parse_topology
from devstack.tests.cosmos.environment import TOPOLOGY, ManualClock

PARTITIONS = ("p", "q")
ids = st.sampled_from(["1", "2", "3"])
numbers = st.integers(0, 3)
partitions = st.sampled_from(PARTITIONS)


@dataclass(frozen=True)
class Step:
    """An operation in the model's words; ``guard`` says which ETag goes along."""

    kind: str
    id: str
    n: int
    guard: str


steps = st.builds(
    Step,
    st.sampled_from(["create", "upsert", "replace", "patch", "delete", "read", "foreign"]),
    ids,
    numbers,
    st.sampled_from(["none", "none", "current", "stale"]),
)


class Batches(RuleBasedStateMachine):
    """The store beside its model: partition -> id -> n."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = ManualClock()
        self.store = Store(parse_topology(TOPOLOGY), clock=self.clock)
        self.container = next(entry for entry in self.store.catalogue.containers if entry.name == "orders")
        self.model: dict[str, dict[str, int]] = {name: {} for name in PARTITIONS}
        self.lsn = 0

    def teardown(self) -> None:
        self.store.close()

    @rule(partition=partitions, batch=st.lists(steps, min_size=1, max_size=5))
    def batch(self, partition: str, batch: list[Step]) -> None:
        operations = tuple(self.operation(partition, step) for step in batch)
        state, expected, failed_at = dict(self.model[partition]), list[int](), None
        touched: set[str] = set()
        for index, step in enumerate(batch):
            # The ETags were read before the batch; a write inside it makes them stale.
            status = expected_status(state, step, touched)
            expected.append(status)
            if status >= 400:
                failed_at = index
                break
            apply(state, step)
            if step.kind != "read":
                touched.add(step.id)
        outcome = execute_batch(self.store, self.container, key_of(partition), operations)
        if failed_at is None:
            assert isinstance(outcome, Committed)
            assert [one.status for one in outcome.outcomes] == expected
            self.model[partition] = state
            self.lsn += bool(touched)
        else:
            assert isinstance(outcome, RolledBack)
            statuses = [424] * len(batch)
            statuses[failed_at] = expected[-1]
            assert [error.status for error in outcome.errors] == statuses

    @rule(partition=partitions, step=steps)
    def single(self, partition: str, step: Step) -> None:
        operation = self.operation(partition, step)
        expected = expected_status(self.model[partition], step, set())
        try:
            with self.store.partition(self.container, key_of(partition)) as opened:
                status = execute(opened, operation).status
        except CosmosError as error:
            status = error.status
        assert status == expected
        if status < 400:
            apply(self.model[partition], step)
            self.lsn += step.kind != "read"

    def operation(self, partition: str, step: Step) -> Operation:
        document: dict[str, Json] = {"id": step.id, "orderId": partition, "n": step.n}
        etag = {"none": None, "stale": '"stale"', "current": self.etag(partition, step.id)}[step.guard]
        match step.kind:
            case "create":
                return Create(document=document)
            case "foreign":
                return Create(document=document | {"orderId": "elsewhere"})
            case "upsert":
                return Upsert(document=document, if_match=etag)
            case "replace":
                return Replace(id=step.id, document=document, if_match=etag)
            case "patch":
                patch = parse_patch([{"op": "set", "path": "/n", "value": step.n}])
                return PatchItem(id=step.id, patch=patch, if_match=etag)
            case "delete":
                return Delete(id=step.id, if_match=etag)
            case _:
                return Read(id=step.id)

    def etag(self, partition: str, item_id: str) -> str:
        with self.store.partition(self.container, key_of(partition)) as opened:
            stored = opened.find(item_id)
        return stored.etag if stored else '"none"'

    @invariant()
    def the_store_holds_what_the_model_holds(self) -> None:
        for partition in PARTITIONS:
            items = self.store.read_feed(self.container, key_of(partition), 0, -1)
            documents = [read_json(item.body) for item in items]
            found = {document["id"]: document["n"] for document in documents if isinstance(document, dict)}
            assert found == self.model[partition]

    @invariant()
    def each_transaction_that_wrote_took_one_lsn(self) -> None:
        assert self.store.last_lsn(self.container) == self.lsn


def expected_status(state: dict[str, int], step: Step, touched: set[str]) -> int:
    guarded_out = step.guard == "stale" or (step.guard == "current" and step.id in touched)
    match step.kind:
        case "foreign":
            return 400
        case "create":
            return 409 if step.id in state else 201
        case "upsert" if step.id not in state:
            return 201
        case "read":
            return 200 if step.id in state else 404
    if step.id not in state:
        return 404
    if guarded_out:
        return 412
    return 204 if step.kind == "delete" else 200


def apply(state: dict[str, int], step: Step) -> None:
    match step.kind:
        case "delete":
            del state[step.id]
        case "create" | "upsert" | "replace" | "patch":
            state[step.id] = step.n


def key_of(partition: str) -> str:
    return from_header(f'["{partition}"]')


Batches.TestCase.settings = settings(max_examples=60, stateful_step_count=20, deadline=None)
TestBatches = Batches.TestCase


def create(item_id: str) -> Create:
    return Create(document={"id": item_id, "orderId": "p"})


def count(store: Store, container: Container) -> int:
    return len(store.read_feed(container, key_of("p"), 0, -1))


def test_a_batch_of_a_hundred_is_allowed_and_one_more_is_400(store: Store, orders: Container) -> None:
    operations = tuple(create(str(number)) for number in range(101))
    with pytest.raises(CosmosError, match="100") as refused:
        execute_batch(store, orders, key_of("p"), operations)
    assert refused.value.status == 400
    assert count(store, orders) == 0
    assert isinstance(execute_batch(store, orders, key_of("p"), operations[:100]), Committed)
    assert count(store, orders) == 100


def test_an_empty_batch_is_400(store: Store, orders: Container) -> None:
    with pytest.raises(CosmosError, match="at least one"):
        execute_batch(store, orders, key_of("p"), ())


def test_a_defect_in_the_middle_leaves_nothing_behind(
    orders: Container, store: Store, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = 0

    def broken_clock(self: ManualClock) -> object:
        nonlocal reads
        reads += 1
        if reads == 2:
            raise RuntimeError("the clock stopped")
        return self.now

    monkeypatch.setattr(ManualClock, "__call__", broken_clock)
    with pytest.raises(RuntimeError):
        execute_batch(store, orders, key_of("p"), (create("1"), create("2")))
    assert count(store, orders) == 0
    assert store.last_lsn(orders) == 0
    assert isinstance(execute_batch(store, orders, key_of("p"), (create("1"),)), Committed)


def test_the_time_is_the_clocks(store: Store, orders: Container, clock: ManualClock) -> None:
    with store.partition(orders, key_of("p")) as partition:
        outcome = execute(partition, create("1"))
    assert outcome.body is not None
    document = read_json(outcome.body)
    assert isinstance(document, dict)
    # 2026-03-01T12:00:00Z
    assert document["_ts"] == 1772366400


def test_an_items_own_system_properties_are_replaced(store: Store, orders: Container) -> None:
    forged: dict[str, Json] = {"id": "1", "orderId": "p", "_etag": "forged", "_ts": 1, "_rid": "x"}
    with store.partition(orders, key_of("p")) as partition:
        outcome = execute(partition, Create(document=forged))
    assert outcome.body is not None
    document = read_json(outcome.body)
    assert isinstance(document, dict)
    assert document["_etag"] == outcome.etag != "forged"
    assert list(document).count("_ts") == 1


def test_a_replace_cannot_change_the_id(store: Store, orders: Container) -> None:
    execute_batch(store, orders, key_of("p"), (create("1"),))
    replace = Replace(id="1", document={"id": "2", "orderId": "p"})
    outcome = execute_batch(store, orders, key_of("p"), (replace,))
    assert isinstance(outcome, RolledBack)
    assert outcome.errors[0].status == 400


def test_a_patch_that_makes_an_item_too_large_is_413(store: Store, orders: Container) -> None:
    execute_batch(store, orders, key_of("p"), (create("1"),))
    half: Json = "x" * 1_200_000
    operations: Json = [{"op": "set", "path": f"/{name}", "value": half} for name in ("a", "b")]
    outcome = execute_batch(store, orders, key_of("p"), (PatchItem(id="1", patch=parse_patch(operations)),))
    assert isinstance(outcome, RolledBack)
    assert outcome.errors[0].status == 413
