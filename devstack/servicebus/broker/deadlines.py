"""What is to happen when: lock expiries and the ends of waiting, earliest first."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heapify, heappop, heappush


@dataclass(slots=True, order=True)
class Deadline:
    """An action at a time; `number` keeps the order of equal times."""

    when: datetime
    number: int
    action: Callable[[], object] | None = field(compare=False)


class Deadlines:
    """A heap of deadlines, in which a cancelled one lies until it surfaces or the heap is mostly such."""

    def __init__(self) -> None:
        self._heap: list[Deadline] = []
        self._count = 0
        self._cancelled = 0

    def add(self, when: datetime, action: Callable[[], object]) -> Deadline:
        """Plan an action."""
        self._count += 1
        deadline = Deadline(when, self._count, action)
        heappush(self._heap, deadline)
        return deadline

    def cancel(self, deadline: Deadline) -> None:
        """Take an action off the plan; one that ran already is left alone."""
        if deadline.action is None:
            return
        deadline.action = None
        self._cancelled += 1
        if 2 * self._cancelled > len(self._heap) + 64:
            self._heap = [each for each in self._heap if each.action is not None]
            heapify(self._heap)
            self._cancelled = 0

    def next(self) -> datetime | None:
        """Return when the earliest action is due; None when none is planned."""
        while self._heap and self._heap[0].action is None:
            heappop(self._heap)
            self._cancelled -= 1
        return self._heap[0].when if self._heap else None

    def run_due(self, now: datetime) -> None:
        """Run all actions that are due at `now`, in order."""
        while (when := self.next()) is not None and when <= now:
            deadline = heappop(self._heap)
            action, deadline.action = deadline.action, None
            if action is not None:
                action()
