from datetime import timedelta

import pytest

from devstack.functions.sessions.lock_renewal import renewal_delay


@pytest.mark.parametrize(
    ("remaining_seconds", "delay_seconds"), [(60, 50), (30, 20), (20, 10), (5, 2.5), (0, 0), (-3, 0)]
)
def test_renewal_comes_ten_seconds_or_half_the_time_before_the_end(
    remaining_seconds: float, delay_seconds: float
) -> None:
    assert renewal_delay(timedelta(seconds=remaining_seconds)) == timedelta(seconds=delay_seconds)
