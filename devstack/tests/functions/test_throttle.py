import asyncio

import pytest

from devstack.functions.host_json import HttpSettings
from devstack.functions.http.throttle import Throttle, TooManyRequestsError


async def test_requests_beyond_the_outstanding_limit_are_refused() -> None:
    throttle = Throttle(HttpSettings(route_prefix="", requests_max=None, outstanding_max=1))
    async with throttle.admit():
        with pytest.raises(TooManyRequestsError):
            async with throttle.admit():
                pass
    async with throttle.admit():
        pass


async def test_requests_beyond_the_running_limit_wait() -> None:
    throttle = Throttle(HttpSettings(route_prefix="", requests_max=1, outstanding_max=2))
    second_runs = asyncio.Event()

    async def second() -> None:
        async with throttle.admit():
            second_runs.set()

    async with throttle.admit():
        waiting = asyncio.create_task(second())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert not second_runs.is_set()
    await waiting
    assert second_runs.is_set()
