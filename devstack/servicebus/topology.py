"""Reads the queues out of a topology file.

The file names every setting once with Azure's value; an entity's `local` object overrides what has to differ here.

Source: Azure docs, ARM reference Microsoft.ServiceBus/namespaces/queues (names and ISO 8601 durations).
"""

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final

from devstack.servicebus.broker.settings import QueueSettings

_DURATION: Final = re.compile(r"P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_QUEUE_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]{0,259}")
_KNOWN: Final = {
    "requiresSession",
    "requiresDuplicateDetection",
    "duplicateDetectionHistoryTimeWindow",
    "lockDuration",
    "maxDeliveryCount",
    "maxMessageBytes",
    # Messages have no time to live here, so that none expires and this has no effect.
    "deadLetteringOnMessageExpiration",
    "local",
}
_DEFAULTS: Final[Mapping[str, object]] = {
    "requiresSession": False,
    "requiresDuplicateDetection": False,
    "duplicateDetectionHistoryTimeWindow": "PT10M",
    "lockDuration": "PT1M",
    "maxDeliveryCount": 10,
    "maxMessageBytes": 262144,
}


class TopologyError(ValueError):
    """The topology file is not usable; the text names the place and the rule."""


def load_queues(path: Path) -> list[QueueSettings]:
    """Read the queues of a topology file, local overrides applied.

    Raises:
        TopologyError: the file is missing, no JSON, or a setting breaks its rule.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TopologyError(f"{path}: cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise TopologyError(f"{path}: is no JSON ({error})") from error
    service_bus = _object(document, "serviceBus", str(path))
    queues = _object(service_bus, "queues", f"{path}: serviceBus")
    if not queues:
        raise TopologyError(f"{path}: serviceBus.queues: at least one queue is needed")
    return [_queue(name, _object(queues, name, f"{path}: serviceBus.queues"), str(path)) for name in queues]


def _object(parent: object, key: str, place: str) -> Mapping[str, object]:
    child = parent.get(key) if isinstance(parent, dict) else None
    if not isinstance(child, dict):
        raise TopologyError(f"{place}.{key}: has to be an object")
    return child


def _queue(name: str, declared: Mapping[str, object], path: str) -> QueueSettings:
    place = f"{path}: serviceBus.queues.{name}"
    if not _QUEUE_NAME.fullmatch(name):
        raise TopologyError(f"{place}: a queue's name has to match {_QUEUE_NAME.pattern}")
    local = _object(declared, "local", place) if "local" in declared else {}
    unknown = sorted((declared.keys() | local.keys()) - _KNOWN)
    if unknown:
        raise TopologyError(f"{place}.{unknown[0]}: is not supported by the local stack")
    settings = {**_DEFAULTS, **declared, **local}
    window = _duration(settings, "duplicateDetectionHistoryTimeWindow", place)
    return QueueSettings(
        name=name,
        requires_session=_boolean(settings, "requiresSession", place),
        lock_duration=_duration(settings, "lockDuration", place),
        max_delivery_count=_count(settings, "maxDeliveryCount", place),
        max_message_bytes=_count(settings, "maxMessageBytes", place),
        duplicate_window=window if _boolean(settings, "requiresDuplicateDetection", place) else None,
    )


def _boolean(settings: Mapping[str, object], key: str, place: str) -> bool:
    value = settings[key]
    if not isinstance(value, bool):
        raise TopologyError(f"{place}.{key}: has to be true or false")
    return value


def _count(settings: Mapping[str, object], key: str, place: str) -> int:
    value = settings[key]
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise TopologyError(f"{place}.{key}: has to be a whole number of at least 1")
    return value


def _duration(settings: Mapping[str, object], key: str, place: str) -> timedelta:
    value = settings[key]
    match = _DURATION.fullmatch(value) if isinstance(value, str) else None
    days, hours, minutes, seconds = match.groups(default="0") if match else ("0", "0", "0", "0")
    duration = timedelta(days=int(days), hours=int(hours), minutes=int(minutes), seconds=float(seconds))
    if not duration:
        raise TopologyError(f"{place}.{key}: has to be an ISO 8601 duration such as PT1M, more than 0")
    return duration
