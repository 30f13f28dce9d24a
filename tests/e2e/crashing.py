"""Put into a copy of the app: its worker kills itself at one named point, a stated number of times.

    CRASH_AT=before-commit CRASH_TIMES=2 CRASH_FILES=/some/folder

Only the order `victim` meets the point. Other orders are held before their commit until the last crash has happened, so
that each crash finds them in flight.
"""

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from uuid import UUID

from shared.cosmos.store import CosmosStore
from shared.idempotency.ports import CommitOutcome, MarkerExists, StoredDocument, Write
from shared.servicebus.settlement import Settlement

VICTIM: Final = "victim"
POINTS: Final = ("before-commit", "after-commit", "before-read-back", "before-dead-letter", "after-dead-letter")

_POINT: Final = os.environ["CRASH_AT"]
_TIMES: Final = int(os.environ["CRASH_TIMES"])
_FILES: Final = Path(os.environ["CRASH_FILES"])


def arm() -> None:
    """Wrap the app's store and settlement."""
    commit, read, dead_letter = CosmosStore.commit, CosmosStore.read, Settlement.dead_letter
    refused: set[str] = set()

    async def crashing_commit(self: CosmosStore, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        if partition != VICTIM:
            await _all_crashed()
            return await commit(self, partition, writes)
        _reach("before-commit")
        outcome = await commit(self, partition, writes)
        _reach("after-commit")
        if isinstance(outcome, MarkerExists):
            refused.add(partition)
        return outcome

    async def crashing_read(self: CosmosStore, partition: str, document_id: str) -> StoredDocument | None:
        if partition in refused:
            _reach("before-read-back")
        return await read(self, partition, document_id)

    async def crashing_dead_letter(self: Settlement, lock_token: UUID | str, *, reason: str, description: str) -> None:
        _reach("before-dead-letter")
        await dead_letter(self, lock_token, reason=reason, description=description)
        _reach("after-dead-letter")

    CosmosStore.commit = crashing_commit  # type: ignore[method-assign]
    CosmosStore.read = crashing_read  # type: ignore[method-assign]
    Settlement.dead_letter = crashing_dead_letter  # type: ignore[method-assign]


def _reach(point: str) -> None:
    if point != _POINT:
        return
    done = sum(1 for _ in _FILES.iterdir())
    if done < _TIMES:
        (_FILES / str(done + 1)).touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)


async def _all_crashed() -> None:
    while sum(1 for _ in _FILES.iterdir()) < _TIMES:  # noqa: ASYNC110 - other processes make the files
        await asyncio.sleep(0.01)
