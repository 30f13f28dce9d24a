"""Runs benchmarks: `python -m bench [--list] [NAME ...]`."""

import argparse
import importlib
import sys
import time
from collections.abc import Sequence
from typing import Final

from bench.figures import Benchmark, machine

NAMES: Final = ("cold_import", "cpu", "engine", "host", "new_orders", "long_sessions", "growth")
"""Modules of this package, the quick ones first."""


def main(arguments: Sequence[str]) -> int:
    """Run the benchmarks named, or all; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--list", action="store_true", help="name each benchmark and what it measures")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a benchmark; by default all")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}; --list names them")
    if options.list:
        for name in NAMES:
            print(f"{name:14} {_first_line(name)}")
        return 0
    print(machine(), flush=True)
    for name in options.names or NAMES:
        print(f"\n{name}: {_first_line(name)}", flush=True)
        started = time.monotonic()
        run: Benchmark = importlib.import_module(f"bench.{name}").run
        for figure in run():
            print(figure, flush=True)
        print(f"{'':12} ({time.monotonic() - started:.0f} s)", flush=True)
    return 0


def _first_line(name: str) -> str:
    return str(importlib.import_module(f"bench.{name}").__doc__).partition("\n")[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
