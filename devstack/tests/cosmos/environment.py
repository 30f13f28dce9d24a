"""What the tests of the emulator share: a topology, a clock, a process."""

import signal
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]

TOPOLOGY: dict[str, Any] = {
    "cosmos": {
        "database": "shop",
        "containers": {
            "orders": {
                "partitionKey": "/orderId",
                "partitionKeyVersion": 2,
                "defaultTtl": -1,
                "indexing": {"included": ["/n/?"], "excluded": ["/*"]},
            },
            "nested": {"partitionKey": "/owner/id"},
        },
    }
}


@dataclass(frozen=True)
class Emulator:
    """A running emulator."""

    process: subprocess.Popen[str]
    port: int
    connection_string: str
    control: str

    def kill(self) -> None:
        """End it as a crash would."""
        self.process.kill()
        self.process.wait(10)

    def stop(self) -> int:
        """End it as its user would; returns the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(10)


type StartEmulator = Callable[..., Emulator]


class ManualClock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now
