"""A task that runs until the host ends, and whose death must not go unnoticed."""

import asyncio
from collections.abc import Callable, Coroutine


def watched_task(work: Coroutine[None, None, None], on_failure: Callable[[BaseException], None]) -> asyncio.Task[None]:
    """Start it; ``on_failure`` is told what it died of, unless it was cancelled."""

    def ended(task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            on_failure(error)

    task = asyncio.create_task(work)
    task.add_done_callback(ended)
    return task
