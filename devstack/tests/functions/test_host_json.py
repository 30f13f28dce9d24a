import json
from datetime import timedelta
from pathlib import Path

import pytest

from devstack.functions.host_json import HostJsonError, HttpSettings, ServiceBusSettings, read_host_json


def written(tmp_path: Path, content: object) -> Path:
    path = tmp_path / "host.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def service_bus(**keys: object) -> dict[str, object]:
    return {"version": "2.0", "extensions": {"serviceBus": keys}}


def test_defaults(tmp_path: Path) -> None:
    settings = read_host_json(written(tmp_path, {"version": "2.0"}))
    assert settings.function_timeout == timedelta(minutes=30)
    assert settings.http == HttpSettings(route_prefix="api", requests_max=None, outstanding_max=None)
    assert settings.service_bus == ServiceBusSettings(
        sessions_max=8,
        session_idle_timeout=timedelta(minutes=1),
        lock_renewal_max=timedelta(minutes=5),
        try_timeout=timedelta(minutes=1),
    )


def test_values(tmp_path: Path) -> None:
    content = {
        "version": "2.0",
        "functionTimeout": "00:10:00",
        "extensions": {
            "http": {"routePrefix": "/v1/", "maxConcurrentRequests": 3, "maxOutstandingRequests": 5},
            "serviceBus": {
                "maxConcurrentSessions": 64,
                "sessionIdleTimeout": "00:00:00.100",
                "maxAutoLockRenewalDuration": "1.00:00:00",
                "clientRetryOptions": {"tryTimeout": "00:00:30"},
            },
        },
    }
    settings = read_host_json(written(tmp_path, content))
    assert settings.function_timeout == timedelta(minutes=10)
    assert settings.http == HttpSettings(route_prefix="v1", requests_max=3, outstanding_max=5)
    assert settings.service_bus == ServiceBusSettings(
        sessions_max=64,
        session_idle_timeout=timedelta(milliseconds=100),
        lock_renewal_max=timedelta(days=1),
        try_timeout=timedelta(seconds=30),
    )


def test_idle_timeout_defaults_to_the_try_timeout(tmp_path: Path) -> None:
    content = service_bus(clientRetryOptions={"tryTimeout": "00:00:07"})
    assert read_host_json(written(tmp_path, content)).service_bus.session_idle_timeout == timedelta(seconds=7)


def test_function_timeout_without_limit(tmp_path: Path) -> None:
    assert read_host_json(written(tmp_path, {"version": "2.0", "functionTimeout": "-1"})).function_timeout is None


def test_lock_renewal_may_be_off(tmp_path: Path) -> None:
    content = service_bus(maxAutoLockRenewalDuration="00:00:00")
    assert read_host_json(written(tmp_path, content)).service_bus.lock_renewal_max == timedelta(0)


def test_unknown_keys_are_silent(tmp_path: Path) -> None:
    read_host_json(written(tmp_path, {"version": "2.0", "nonsense": 1, **service_bus(nonsense={"a": []})}))


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("{", "not valid JSON"),
        ("[]", "the file: must be a JSON object"),
        ({}, "version: must be"),
        ({"version": 2}, "version: must be a string"),
        ({"version": "2.0", "extensions": []}, "extensions: must be a JSON object"),
        ({"version": "2.0", "functionTimeout": "10 minutes"}, "functionTimeout: must be a time span"),
        ({"version": "2.0", "functionTimeout": "00:00:00"}, "functionTimeout: must be more than zero"),
        (
            service_bus(sessionIdleTimeout="00:61:00"),
            "extensions.serviceBus.sessionIdleTimeout: must be a time",
        ),
        (
            service_bus(sessionIdleTimeout="24:00:00"),
            "extensions.serviceBus.sessionIdleTimeout: must be a time",
        ),
        (
            service_bus(maxConcurrentSessions=0),
            "extensions.serviceBus.maxConcurrentSessions: must be an integer",
        ),
        (
            service_bus(maxConcurrentSessions=-1),
            "extensions.serviceBus.maxConcurrentSessions: must be an integer",
        ),
        (
            service_bus(maxConcurrentSessions=True),
            "extensions.serviceBus.maxConcurrentSessions: must be an integer",
        ),
        (
            service_bus(clientRetryOptions={"tryTimeout": 60}),
            "extensions.serviceBus.clientRetryOptions.tryTimeout",
        ),
    ],
)
def test_a_fault_names_file_and_key(tmp_path: Path, content: object, named: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(HostJsonError) as raised:
        read_host_json(path)
    assert str(raised.value).startswith(f"{path}: {named}")


def test_a_missing_file_says_so(tmp_path: Path) -> None:
    with pytest.raises(HostJsonError, match="the file is missing"):
        read_host_json(tmp_path / "host.json")
