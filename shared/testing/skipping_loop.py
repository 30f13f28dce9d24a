"""An event loop that skips the time in which nothing can happen: a time-out of minutes is over at once."""

import asyncio
import selectors


class _SkippingSelector(selectors.SelectSelector):
    def __init__(self) -> None:
        super().__init__()
        self.skipped_seconds = 0.0

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            # No timer is set, so there is nothing to skip to.
            return super().select(None)
        ready = super().select(0)
        if not ready and timeout > 0:
            self.skipped_seconds += timeout
        return ready


class SkippingLoop(asyncio.SelectorEventLoop):
    """For `asyncio.Runner(loop_factory=SkippingLoop)`, around code that does no I/O."""

    def __init__(self) -> None:
        self._skipping = _SkippingSelector()
        super().__init__(self._skipping)

    def time(self) -> float:
        """The loop's time: real time and what was skipped."""
        return super().time() + self._skipping.skipped_seconds
