"""What a benchmark yields, and how it is printed."""

import os
import platform
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured number, such as `Figure("16 in flight", 371.0, "orders/s")`."""

    what: str
    value: float
    unit: str

    def __str__(self) -> str:
        return f"{self.value:12,.2f} {self.unit:14} {self.what}"


type Benchmark = Callable[[], Iterator[Figure]]


def machine() -> str:
    """The machine, the Python and the day: figures mean nothing without them."""
    today = datetime.now(UTC).date().isoformat()
    return f"{os.cpu_count()} cores, {_processor()}, {platform.system()}, Python {platform.python_version()}, {today}"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())
