"""The memory store against a plain dictionary, over any sequence of calls."""

from collections.abc import Coroutine

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from shared.idempotency.ports import (
    CommitOutcome,
    Committed,
    Conflict,
    Create,
    Document,
    MarkerExists,
    Replace,
    Write,
)
from shared.testing.memory_store import MemoryStore

PARTITIONS = ("p1", "p2")
IDS = ("a", "b", "c")


def now[T](call: Coroutine[object, None, T]) -> T:
    """The result of a call that waits for nothing."""
    try:
        call.send(None)
    except StopIteration as stop:
        result: T = stop.value
        return result
    raise AssertionError("the memory store waits for something")


drafts = st.lists(st.tuples(st.sampled_from(["create", "replace", "replace old"]), st.sampled_from(IDS)), min_size=1)


class StoreMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.store = MemoryStore("/pk")
        self.model: dict[str, dict[str, int]] = {partition: {} for partition in PARTITIONS}
        self.seen: dict[tuple[str, str, int], str] = {}
        self.written = 0
        self.version = 0

    @rule(partition=st.sampled_from(PARTITIONS), draft=drafts)
    def commit(self, partition: str, draft: list[tuple[str, str]]) -> None:
        before = self.model[partition]
        after = dict(before)
        writes: list[Write] = []
        refusal: CommitOutcome | None = None
        for index, (kind, key) in enumerate(draft):
            self.version += 1
            body: Document = {"id": key, "pk": partition, "version": self.version}
            # The model holds versions; a replace names the etag that was read with the version before the batch.
            etag = self.seen.get((partition, key, before.get(key, 0)), "none") if kind == "replace" else "old"
            writes.append(Create(body) if kind == "create" else Replace(body, etag))
            if refusal is not None:
                continue
            if kind == "create" and key in after:
                refusal = MarkerExists() if index == 0 else Conflict(409)
            elif kind != "create" and key not in after:
                refusal = Conflict(404)
            elif kind == "replace old" or (kind == "replace" and after[key] != before.get(key)):
                refusal = Conflict(412)
            else:
                after[key] = self.version
        outcome = now(self.store.commit(partition, writes))
        assert outcome == (refusal or Committed())
        if refusal is None:
            self.model[partition] = after
            self.written += len(writes)

    @rule(partition=st.sampled_from(PARTITIONS), key=st.sampled_from(IDS))
    def read(self, partition: str, key: str) -> None:
        found = now(self.store.read(partition, key))
        version = self.model[partition].get(key)
        if version is None:
            assert found is None
            return
        assert found is not None
        assert found.body == {"id": key, "pk": partition, "version": version}

    @invariant()
    def holds_what_the_model_holds(self) -> None:
        for partition in PARTITIONS:
            held = self.store.documents(partition)
            assert {key: body["version"] for key, body in held.items()} == self.model[partition]
            for key, version in self.model[partition].items():
                found = now(self.store.read(partition, key))
                assert found is not None
                # A version has one etag for as long as it is there, and no two versions share one.
                assert self.seen.setdefault((partition, key, version), found.etag) == found.etag
        assert len(set(self.seen.values())) == len(self.seen)
        assert self.store.writes == self.written


TestStore = StoreMachine.TestCase
