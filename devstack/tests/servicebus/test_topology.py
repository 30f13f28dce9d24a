"""Queues out of a topology file."""

import json
from datetime import timedelta
from pathlib import Path

import pytest

from devstack.servicebus.broker.settings import QueueSettings
from devstack.servicebus.topology import TopologyError, load_queues

FULL: dict[str, object] = {
    "requiresSession": True,
    "requiresDuplicateDetection": True,
    "duplicateDetectionHistoryTimeWindow": "P1DT2H3M4.5S",
    "lockDuration": "PT1M",
    "maxDeliveryCount": 25,
    "deadLetteringOnMessageExpiration": True,
    "maxMessageBytes": 1000,
    "local": {"maxDeliveryCount": 10},
}


def written(tmp_path: Path, document: object) -> Path:
    path = tmp_path / "topology.json"
    path.write_text(json.dumps(document))
    return path


def test_every_setting_is_read_and_local_ones_win(tmp_path: Path) -> None:
    path = written(tmp_path, {"serviceBus": {"queues": {"orders": FULL}}, "cosmos": {}})
    assert load_queues(path) == [
        QueueSettings(
            name="orders",
            requires_session=True,
            lock_duration=timedelta(minutes=1),
            max_delivery_count=10,
            max_message_bytes=1000,
            duplicate_window=timedelta(days=1, hours=2, minutes=3, seconds=4.5),
        )
    ]


def test_the_defaults_are_those_of_the_service(tmp_path: Path) -> None:
    (settings,) = load_queues(written(tmp_path, {"serviceBus": {"queues": {"plain": {}}}}))
    assert settings == QueueSettings(
        name="plain",
        requires_session=False,
        lock_duration=timedelta(minutes=1),
        max_delivery_count=10,
        max_message_bytes=262144,
        duplicate_window=None,
    )


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"requiresSession": "yes"}, "orders.requiresSession"),
        ({"maxDeliveryCount": 0}, "orders.maxDeliveryCount"),
        ({"maxDeliveryCount": True}, "orders.maxDeliveryCount"),
        ({"maxMessageBytes": 1.5}, "orders.maxMessageBytes"),
        ({"lockDuration": "1 minute"}, "orders.lockDuration"),
        ({"lockDuration": "PT0S"}, "orders.lockDuration"),
        ({"lockDuration": 60}, "orders.lockDuration"),
        ({"forwardTo": "other"}, "orders.forwardTo"),
        ({"local": {"lockduration": "PT1M"}}, "orders.lockduration"),
        ({"local": 1}, "orders.local"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path: Path, change: dict[str, object], place: str) -> None:
    with pytest.raises(TopologyError, match=place):
        load_queues(written(tmp_path, {"serviceBus": {"queues": {"orders": FULL | {"local": {}} | change}}}))


@pytest.mark.parametrize(
    ("document", "place"),
    [
        ([], "serviceBus"),
        ({"serviceBus": {}}, "serviceBus.queues"),
        ({"serviceBus": {"queues": {}}}, "at least one"),
        ({"serviceBus": {"queues": {"or ders": {}}}}, "or ders"),
    ],
)
def test_a_file_without_queues_is_refused(tmp_path: Path, document: object, place: str) -> None:
    with pytest.raises(TopologyError, match=place):
        load_queues(written(tmp_path, document))


def test_a_missing_file_and_broken_json_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(TopologyError, match="cannot be read"):
        load_queues(tmp_path / "none.json")
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(TopologyError, match="is no JSON"):
        load_queues(tmp_path / "broken.json")
