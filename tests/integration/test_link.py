"""Callers that share one link: turns, cancellation, failure and close, whatever comes first.

The link under test is the product's; what it opens here is a sender that does nothing but tell whether it is closed.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable

import pytest

from shared.servicebus.link import Link


class Opened:
    """What a link opens."""

    def __init__(self, close: Callable[[], Awaitable[None]]) -> None:
        self._close = close
        self.closes = 0

    async def close(self) -> None:
        self.closes += 1
        await self._close()


async def at_once() -> None:
    pass


async def never() -> None:
    await asyncio.Event().wait()


class Bench:
    """A link with a record of what it has opened."""

    def __init__(self, *, use_seconds: float = 10, close: Callable[[], Awaitable[None]] = at_once) -> None:
        self.opened: list[Opened] = []
        self._close = close
        self.link = Link(self._open, use_seconds=use_seconds)

    def _open(self) -> Opened:
        self.opened.append(Opened(self._close))
        return self.opened[-1]

    async def use(self, started: asyncio.Event | None = None, goes_on: asyncio.Event | None = None) -> Opened:
        async with self.link.use() as opened:
            if started is not None:
                started.set()
            if goes_on is not None:
                await goes_on.wait()
            return opened

    async def fail(self, started: asyncio.Event, goes_on: asyncio.Event) -> None:
        async with self.link.use():
            started.set()
            await goes_on.wait()
            raise ConnectionError("lost")

    @property
    def closes(self) -> list[int]:
        return [opened.closes for opened in self.opened]


@pytest.fixture
def started() -> asyncio.Event:
    return asyncio.Event()


@pytest.fixture
def goes_on() -> asyncio.Event:
    return asyncio.Event()


async def test_a_link_is_opened_at_its_first_use_and_kept() -> None:
    bench = Bench()
    assert bench.opened == []
    assert await bench.use() is await bench.use()
    assert bench.closes == [0]
    await bench.link.close()
    assert bench.closes == [1]


async def test_callers_have_the_link_to_themselves(started: asyncio.Event, goes_on: asyncio.Event) -> None:
    bench = Bench()
    inside, most = 0, 0

    async def use() -> None:
        nonlocal inside, most
        async with bench.link.use():
            inside += 1
            most = max(most, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*(use() for _ in range(20)))
    assert most == 1
    assert len(bench.opened) == 1


async def test_a_failure_while_another_waits_gives_that_one_a_new_link(
    started: asyncio.Event, goes_on: asyncio.Event
) -> None:
    bench = Bench()
    failing = asyncio.create_task(bench.fail(started, goes_on))
    await started.wait()
    waiting = asyncio.create_task(bench.use())
    await asyncio.sleep(0)
    goes_on.set()
    with pytest.raises(ConnectionError):
        await failing
    assert await waiting is bench.opened[1]
    await bench.link.close()
    assert bench.closes == [1, 1]


async def test_a_cancelled_use_gives_the_link_up(started: asyncio.Event, goes_on: asyncio.Event) -> None:
    bench = Bench()
    using = asyncio.create_task(bench.use(started, goes_on))
    await started.wait()
    using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    assert await bench.use() is bench.opened[1]
    await bench.link.close()
    assert bench.closes == [1, 1]


async def test_a_cancelled_wait_for_the_turn_does_not_touch_the_link(
    started: asyncio.Event, goes_on: asyncio.Event
) -> None:
    bench = Bench()
    using = asyncio.create_task(bench.use(started, goes_on))
    await started.wait()
    waiting = asyncio.create_task(bench.use())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    goes_on.set()
    assert await using is await bench.use()
    assert bench.closes == [0]


async def test_the_turns_of_cancelled_waiters_go_to_the_next(started: asyncio.Event, goes_on: asyncio.Event) -> None:
    bench = Bench()
    using = asyncio.create_task(bench.use(started, goes_on))
    await started.wait()
    first, second = asyncio.create_task(bench.use()), asyncio.create_task(bench.use())
    await asyncio.sleep(0)
    # The turn is given to the first in the moment in which that one is cancelled.
    goes_on.set()
    await using
    first.cancel()
    async with asyncio.timeout(5):
        assert await second is bench.opened[0]


async def test_waiting_for_the_turn_counts_into_the_bound(started: asyncio.Event, goes_on: asyncio.Event) -> None:
    bench = Bench(use_seconds=0.05)

    async def outstay() -> None:
        async with bench.link.use():
            started.set()
            try:
                await never()
            finally:
                # Cut off, and still in the middle of something.
                await goes_on.wait()

    outstaying = asyncio.create_task(outstay())
    await started.wait()
    with pytest.raises(TimeoutError):
        await bench.use()
    goes_on.set()
    with pytest.raises(TimeoutError):
        await outstaying
    await bench.link.close()
    # Whoever got no turn opened nothing.
    assert bench.closes == [1]


async def test_a_link_that_cannot_be_opened_is_opened_by_the_next() -> None:
    tries = 0

    def open_link() -> Opened:
        nonlocal tries
        tries += 1
        if tries == 1:
            raise ValueError("bad connection string")
        return Opened(at_once)

    link = Link(open_link, use_seconds=10)
    with pytest.raises(ValueError, match="bad connection string"):
        async with link.use():
            raise AssertionError("there is nothing to use")
    async with link.use() as opened:
        assert opened.closes == 0
    await link.close()


async def test_a_close_in_the_middle_of_a_use_that_then_fails_closes_once(
    started: asyncio.Event, goes_on: asyncio.Event, caplog: pytest.LogCaptureFixture
) -> None:
    bench = Bench()
    failing = asyncio.create_task(bench.fail(started, goes_on))
    await started.wait()
    with caplog.at_level(logging.INFO):
        await bench.link.close()
        goes_on.set()
        with pytest.raises(ConnectionError):
            await failing
        await bench.link.close()
    assert bench.closes == [1]
    assert caplog.messages == []


async def test_nobody_waits_for_the_closing_of_a_link_that_was_given_up(
    started: asyncio.Event, goes_on: asyncio.Event
) -> None:
    bench = Bench(close=never)
    failing = asyncio.create_task(bench.fail(started, goes_on))
    await started.wait()
    goes_on.set()
    with pytest.raises(ConnectionError):
        await failing
    async with asyncio.timeout(1):
        assert await bench.use() is bench.opened[1]
    closing = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in closing:
        task.cancel()
    await asyncio.gather(*closing, return_exceptions=True)


async def test_a_failing_close_is_logged_by_its_kind_alone(caplog: pytest.LogCaptureFixture) -> None:
    async def refuses() -> None:
        raise OSError("Endpoint=sb://secret")

    bench = Bench(close=refuses)
    await bench.use()
    with caplog.at_level(logging.INFO):
        await bench.link.close()
    assert caplog.messages == ["link discarded, close failed: OSError"]
