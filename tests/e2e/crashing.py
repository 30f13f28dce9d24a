"""Put into a copy of the app: its worker kills itself at named points, and notes what it asks of the store.

    CRASH_PLAN="before-commit after-commit" CRASH_FILES=/some/folder

The first crash is at the plan's first point, the second at its second. How many there were is kept in files, which
outlive the worker. Only the order `victim` meets the points. The bystanders are held before their commit until the
last crash has happened, and a crash waits until all of them are held: it finds each of them in flight.
"""

import asyncio
import json
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from azure.core.pipeline.transport import AioHttpTransport

from shared.cosmos.store import CosmosStore
from shared.idempotency.ports import CommitOutcome, StoredDocument, Write
from shared.outbox.outgoing import OutgoingMessage
from shared.servicebus.sender import QueueSender
from shared.servicebus.settlement import Settlement

VICTIM: Final = "victim"
BYSTANDERS: Final = tuple(f"bystander-{number}" for number in range(6))


class Crashes:
    """The plan, and how far it is carried out."""

    def __init__(self, plan: Sequence[str], files: Path) -> None:
        self._plan = plan
        self._files = files
        self._held: set[str] = set()

    async def reach(self, point: str) -> None:
        """Crash if this is the point of the next crash."""
        done = self._done()
        if done == len(self._plan) or self._plan[done] != point:
            return
        while self._held != set(BYSTANDERS):  # noqa: ASYNC110 - an event belongs to one loop, this file to none
            await asyncio.sleep(0.01)
        (self._files / f"crash-{done + 1}").touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)

    async def hold(self, order_id: str) -> None:
        """Return when the last crash has happened."""
        self._held.add(order_id)
        while self._done() < len(self._plan):  # noqa: ASYNC110 - workers before this one made the files
            await asyncio.sleep(0.01)

    def note_call(self, method: str, body: Any) -> None:  # noqa: ANN401 - JSON
        """Note a request to the store about the victim."""
        operations = json.loads(body) if body else []
        note = {
            "method": method,
            "writes": len(operations),
            "attemptId": next((operation["resourceBody"]["attemptId"] for operation in operations), None),
        }
        with (self._files / "calls").open("a", encoding="utf-8") as file:
            file.write(json.dumps(note) + "\n")

    def _done(self) -> int:
        return sum(1 for _ in self._files.glob("crash-*"))


def arm() -> None:
    """Wrap the app's store, settlement and sender, and the transport of the store's SDK."""
    crashes = Crashes(os.environ["CRASH_PLAN"].split(), Path(os.environ["CRASH_FILES"]))
    commit, read, dead_letter = CosmosStore.commit, CosmosStore.read, Settlement.dead_letter
    send_message, send_request = QueueSender.send, AioHttpTransport.send

    async def crashing_commit(self: CosmosStore, partition: str, writes: Sequence[Write]) -> CommitOutcome:
        if partition != VICTIM:
            await crashes.hold(partition)
            return await commit(self, partition, writes)
        await crashes.reach("before-commit")
        outcome = await commit(self, partition, writes)
        await crashes.reach("after-commit")
        return outcome

    async def crashing_read(self: CosmosStore, partition: str, document_id: str) -> StoredDocument | None:
        if partition == VICTIM:
            await crashes.reach("before-read")
        return await read(self, partition, document_id)

    async def crashing_dead_letter(self: Settlement, lock_token: UUID | str, *, reason: str, description: str) -> None:
        await crashes.reach("before-dead-letter")
        await dead_letter(self, lock_token, reason=reason, description=description)
        await crashes.reach("after-dead-letter")

    async def crashing_send(self: QueueSender, message: OutgoingMessage) -> None:
        await crashes.reach("before-send")
        await send_message(self, message)
        await crashes.reach("after-send")

    async def noting_send(self: AioHttpTransport, request: Any, **options: Any) -> Any:  # noqa: ANN401 - the SDK's own
        if request.headers.get("x-ms-documentdb-partitionkey") == json.dumps([VICTIM]):
            crashes.note_call(request.method, request.data)
        return await send_request(self, request, **options)

    CosmosStore.commit = crashing_commit  # type: ignore[method-assign]
    CosmosStore.read = crashing_read  # type: ignore[method-assign]
    Settlement.dead_letter = crashing_dead_letter  # type: ignore[method-assign]
    QueueSender.send = crashing_send  # type: ignore[method-assign]
    AioHttpTransport.send = noting_send
