"""Every order in which runs that go on at the same time can make their store calls."""

import asyncio
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass

from shared.idempotency.ports import CommitOutcome, Store, StoredDocument, Write


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of the waiting runs went on, and how many were waiting."""

    taken: int
    of: int


class Interleaving:
    """One order: runs stop before each store call, and go on one at a time.

    Attributes:
        choices: the choices made, in order; `following` gives the next order from them.
    """

    def __init__(self, planned: Sequence[int]) -> None:
        """An order that starts with the planned choices, and after them takes the first run that waits."""
        self._planned = planned
        self._gates: list[_GatedStore] = []
        self.choices: list[Choice] = []

    def gated(self, store: Store) -> Store:
        """The store for the next run; call it once per run, in the order in which `run` gets them."""
        gate = _GatedStore(store)
        self._gates.append(gate)
        return gate

    async def run(self, runs: Sequence[Coroutine[object, object, None]]) -> None:
        """Take all runs to their end.

        Raises:
            Exception: the first that a run raised, after all have ended.
        """
        tasks = [asyncio.ensure_future(run) for run in runs]
        gated = list(zip(tasks, self._gates, strict=True))
        while True:
            # Steps the loop until every run has ended or waits at its gate.
            while any(not task.done() and not gate.waits for task, gate in gated):  # noqa: ASYNC110
                await asyncio.sleep(0)
            waiting = [gate for gate in self._gates if gate.waits]
            if not waiting:
                break
            made = len(self.choices)
            taken = self._planned[made] if made < len(self._planned) else 0
            self.choices.append(Choice(taken, len(waiting)))
            waiting[taken].open()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome


def following(choices: Sequence[Choice]) -> list[int] | None:
    """The plan of the order that comes after the one that made these choices; None after the last.

    Depth first: the last choice that has an untried alternative is changed.
    """
    for index in range(len(choices) - 1, -1, -1):
        if choices[index].taken + 1 < choices[index].of:
            return [choice.taken for choice in choices[:index]] + [choices[index].taken + 1]
    return None


class _GatedStore:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn: asyncio.Future[None] | None = None

    @property
    def waits(self) -> bool:
        return self._turn is not None

    def open(self) -> None:
        if self._turn is not None:
            self._turn.set_result(None)
            self._turn = None

    async def read(self, partition: str, document_id: str) -> StoredDocument | None:
        await self._wait()
        return await self._store.read(partition, document_id)

    async def read_many(self, partition: str, document_ids: Sequence[str]) -> dict[str, StoredDocument]:
        await self._wait()
        return await self._store.read_many(partition, document_ids)

    async def commit(self, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        await self._wait()
        return await self._store.commit(partition, writes)

    async def _wait(self) -> None:
        self._turn = asyncio.get_running_loop().create_future()
        await self._turn
