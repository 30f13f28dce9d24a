"""What a cold start pays for importing function_app: aim 700 ms and 90 MB or less.

In a fresh interpreter with nothing loaded. A Functions worker has loaded its own library and grpc by then.
"""

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from statistics import median

from bench.figures import Figure
from tests.running_stack import ROOT

RUNS = 9
COSTLIEST = 8

_MEASURED = """
import json, resource, sys, time
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
started = time.perf_counter()
import function_app
seconds = time.perf_counter() - started
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
print(json.dumps([seconds, after * unit, before * unit]))
"""
_LINE = re.compile(r"import time:\s+(?P<own>\d+) \|\s+\d+ \|\s+(?P<module>\S+)")


def run() -> Iterator[Figure]:
    """Import it in some fresh interpreters, then once more with each module's own time."""
    measured = [json.loads(_python("-c", _MEASURED).stdout) for _ in range(RUNS)]
    seconds, after, before = (median(values) for values in zip(*measured, strict=True))
    yield Figure("import of function_app", seconds * 1000, "ms")
    yield Figure("memory of the process after it", after / 1e6, "MB")
    yield Figure("memory of the process before it", before / 1e6, "MB")
    own = Counter[str]()
    for line in _python("-X", "importtime", "-c", "import function_app").stderr.splitlines():
        if found := _LINE.match(line):
            own[_package(found["module"])] += int(found["own"])
    for package, microseconds in own.most_common(COSTLIEST):
        yield Figure(f"of the time under -X importtime: {package}", microseconds / 1000, "ms")


def _package(module: str) -> str:
    """`azure.functions` of `azure.functions.decorators`, `asyncio` of `asyncio.events`."""
    depth = 2 if module.startswith("azure.") else 1
    return ".".join(module.split(".")[:depth])


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)  # noqa: S603 - our own
