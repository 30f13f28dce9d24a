"""Which sockets a test may open: none in unit and property tests, loopback in contract tests."""

from pathlib import Path

import pytest
from pytest_socket import disable_socket, socket_allow_hosts

TESTS = Path(__file__).parent


def pytest_runtest_setup(item: pytest.Item) -> None:
    # Unix sockets stay: an event loop wakes itself through a pair of them. pytest-socket lifts the rule afterwards.
    match item.path.relative_to(TESTS).parts[0]:
        case "unit" | "property":
            disable_socket(allow_unix_socket=True)
        case "contract" | "integration" | "e2e":
            socket_allow_hosts(["127.0.0.1", "::1", "localhost"], allow_unix_socket=True)
        case _:
            pass
