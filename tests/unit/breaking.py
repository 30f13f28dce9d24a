"""How a test breaks the proof."""

from collections.abc import Sequence

import pytest

from shared.idempotency.consumer import Consumer
from shared.testing.effectively_once import assert_effectively_once
from tests.unit.example_consumers import LOYALTY, Points, PointsGranted


def broken(messages: Sequence[PointsGranted], consumer: Consumer[PointsGranted, Points] = LOYALTY) -> str:
    with pytest.raises(AssertionError) as caught:
        assert_effectively_once(consumer, messages)
    return str(caught.value)
