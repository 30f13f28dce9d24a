"""Put into a copy of the app: commits take COMMIT_SECONDS."""

import asyncio
import os
from collections.abc import Sequence

from shared.cosmos.store import CosmosStore
from shared.idempotency.ports import CommitOutcome, Write


def arm() -> None:
    """Wrap the app's store."""
    commit, seconds = CosmosStore.commit, float(os.environ["COMMIT_SECONDS"])

    async def slow_commit(self: CosmosStore, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        await asyncio.sleep(seconds)
        return await commit(self, partition, writes)

    CosmosStore.commit = slow_commit  # type: ignore[method-assign]
