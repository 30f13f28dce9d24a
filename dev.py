#!/usr/bin/env python3
"""Every task of this repository behind one command, from a bare machine on.

`python3 dev.py` lists the commands. Any Python from 3.8 on may run this file: it finds a Python 3.13, makes
`.venv` with it, installs what the command needs, and delegates to it.
"""

from __future__ import annotations  # lets Python 3.8 load annotations that are newer than it

import argparse
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from devsetup import local_stack, virtualenv
from devsetup.processes import TaskError, run_to_end, say

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

ROOT = Path(__file__).resolve().parent
STATE = ROOT / ".devstack"
LOCAL, DEVELOPMENT = "requirements-local.txt", "requirements-dev.txt"
FAILED, MISUSED, INTERRUPTED, TERMINATED = 1, 2, 130, 143

CHECKS = (
    ("lint", ["-m", "ruff", "check", "."]),
    ("format", ["-m", "ruff", "format", "--check", "."]),
    ("types", ["-m", "mypy"]),
    # Not the lint-imports script: its first line breaks when a clone is moved.
    (
        "imports",
        ["-c", "from importlinter.cli import lint_imports_command as run; run(['--no-logo'])"],
    ),
)


def demo(arguments: Sequence[str]) -> int:
    """Tell the whole story on a local stack of its own."""
    parser = argparse.ArgumentParser(prog="dev.py demo", description=demo.__doc__)
    parser.add_argument("--csv", metavar="FILE", type=Path, help="orders in Online Retail columns to send instead")
    csv = parser.parse_args(arguments).csv
    if csv is not None and not csv.is_file():
        raise TaskError(f"--csv: there is no file {csv}. A sample lies in samples/orders.csv.")
    python = virtualenv.prepare(ROOT, STATE, LOCAL)
    say("Starting the local stack (Service Bus, Cosmos DB, Functions) ...")
    with local_stack.running(python, ROOT, STATE, [], output=STATE / "stack.log") as (_, values):
        command = [str(python), "-m", "samples.demo", "--log", str(STATE / "functions.log")]
        code = run_to_end([*command, *(["--csv", str(csv.resolve())] if csv else [])], ROOT, values)
    if code != 0:
        say(f"\nThe demo failed. Next: read {STATE / 'functions.log'}; python3 dev.py start to look around.")
        return code
    other = "demo" if csv else "demo --csv samples/orders.csv"
    say(f"\nNext: python3 dev.py start to try it yourself, or python3 dev.py {other}.")
    return 0


def start(arguments: Sequence[str]) -> int:
    """Serve the local stack until Ctrl-C."""
    parser = argparse.ArgumentParser(prog="dev.py start", description=start.__doc__)
    for part in ("servicebus", "cosmos", "functions"):
        parser.add_argument(f"--{part}-port", metavar="N", type=int, help="default: a free one")
    chosen = {name: port for name, port in vars(parser.parse_args(arguments)).items() if port is not None}
    options = [word for name, port in chosen.items() for word in (f"--{name.replace('_', '-')}", str(port))]
    python = virtualenv.prepare(ROOT, STATE, LOCAL)
    try:
        with local_stack.running(python, ROOT, STATE, options) as (stack, values):
            say("\nPlace the sample order, read it, read its operation, ask for the state of the app:\n")
            say("\n".join(local_stack.curl_lines(values)))
            say("\nNext: paste these lines into another terminal, in this folder. Ctrl-C stops the stack.")
            code = stack.wait()
    except KeyboardInterrupt:
        say("\nStopped. Next: python3 dev.py test, or start again.")
        raise
    say(f"\nThe local stack ended by itself (exit code {code}). Next: read the logs in {STATE}.")
    return code or FAILED


def test(arguments: Sequence[str]) -> int:
    """Run the tests: all on two workers, what pytest's arguments name, a soak of some minutes, or mutants."""
    python = virtualenv.prepare(ROOT, STATE, DEVELOPMENT)
    if arguments[:1] == ["--mutants"]:
        code = run_to_end([str(python), "-m", "tests.mutants", *arguments[1:]], ROOT)
        advice = "give each that is alive a test that fails" if code else "python3 dev.py test"
        say(f"\nNext: {advice}.")
        return code
    if arguments[:1] == ["--soak"]:
        code = run_to_end([str(python), "-m", "tests.soak", *arguments[1:]], ROOT)
        say(f"\nNext: {'look at what is named above; the first line has the seed' if code else 'python3 dev.py test'}.")
        return code
    code = run_to_end([str(python), "-m", "pytest", *(arguments or ["-n", "2"])], ROOT)
    advice = "python3 dev.py test --last-failed to repeat what failed" if code else "python3 dev.py check"
    say(f"\nNext: {advice}.")
    return code


def bench(arguments: Sequence[str]) -> int:
    """Measure: all benchmarks, or those named; --list says what each measures."""
    python = virtualenv.prepare(ROOT, STATE, DEVELOPMENT)
    code = run_to_end([str(python), "-m", "bench", *arguments], ROOT)
    say(f"\nNext: {'mend what is named above' if code else 'docs/performance.md has figures to compare ratios with'}.")
    return code


def check(arguments: Sequence[str]) -> int:
    """Check lint, format, types and import directions: all of them, then one summary."""
    argparse.ArgumentParser(prog="dev.py check", description=check.__doc__).parse_args(arguments)
    python = virtualenv.prepare(ROOT, STATE, DEVELOPMENT)
    results = []
    for name, command in CHECKS:
        say(f"\n--- {name}")
        started = time.monotonic()
        code = run_to_end([str(python), *command], ROOT)
        results.append((name, code, time.monotonic() - started))
    say("\n--- summary")
    for name, code, seconds in results:
        say(f"{name:8} {'ok' if code == 0 else 'FAILED':7} {seconds:5.1f} s")
    failed = [name for name, code, _ in results if code != 0]
    ruff = f"{python} -m ruff"
    repair = f"mend what is named above ({ruff} check --fix and {ruff} format do part of it)"
    say(f"\nNext: {repair if failed else 'python3 dev.py test'}.")
    return FAILED if failed else 0


class Command(NamedTuple):
    """A command, and how it is listed."""

    run: Callable[[Sequence[str]], int]
    usage: str


COMMANDS = {
    "demo": Command(demo, "demo [--csv FILE]"),
    "start": Command(start, "start [--servicebus-port N] [--cosmos-port N] [--functions-port N]"),
    "test": Command(test, "test [pytest arguments | --soak MINUTES | --mutants [NAME ...]]"),
    "check": Command(check, "check"),
    "bench": Command(bench, "bench [NAME ...] [--list]"),
}


def main(arguments: Sequence[str]) -> int:
    """Run one command and return the process's exit code."""
    if not arguments or arguments[0] in ("-h", "--help"):
        say("usage: python3 dev.py COMMAND\n")
        for command in COMMANDS.values():
            say(f"  {command.usage}\n      {command.run.__doc__}")
        say("\nNext: python3 dev.py demo")
        return 0
    if arguments[0] not in COMMANDS:
        say(f"dev.py: there is no command {arguments[0]!r}. Next: choose one of {', '.join(COMMANDS)}.")
        return MISUSED
    signal.signal(signal.SIGTERM, _terminated)
    try:
        return COMMANDS[arguments[0]].run(arguments[1:])
    except TaskError as error:
        say(f"dev.py: {error}")
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED


def _terminated(_signal: int, _frame: FrameType | None) -> None:
    """Leave through every `finally`, so that no child outlives this process."""
    sys.exit(TERMINATED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
