"""Runs the mutation check: `python -m tests.mutants [--list] [NAME ...]`.

First every named test must pass on the code as it is. Then each mutant is made, alone, in a copy of the repository, and
its own test must fail, by an assertion. Exit code 0: every mutant was caught.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Final

from tests.mutants.catalogue import MUTANTS
from tests.mutants.copies import Copy, Report
from tests.mutants.mutant import Mutant, PatchError

PROCESSES: Final = 2


def main(arguments: Sequence[str]) -> int:
    """Check the mutants named, or all; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="print name, file and test of each, and run nothing")
    parser.add_argument("names", nargs="*", metavar="NAME", help="of a mutant; by default all")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - {mutant.name for mutant in MUTANTS}:
        parser.error(f"there is no mutant {', '.join(sorted(unknown))}; --list names them")
    mutants = [mutant for mutant in MUTANTS if not options.names or mutant.name in options.names]
    if options.list:
        for mutant in mutants:
            print(f"{mutant.name}\t{mutant.file}\t{mutant.test}")
        return 0
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        return _check(mutants, [Copy(Path(folder) / str(number)) for number in range(PROCESSES)])


def _check(mutants: Sequence[Mutant], copies: Sequence[Copy]) -> int:
    started = time.monotonic()
    sound = copies[0].run(sorted({mutant.test for mutant in mutants}))
    if sound.failed or sound.broken or not sound.passed:
        print("the tests do not pass on the code as it is:", *sound.failed, *sound.broken, sep="\n  ")
        return 1
    print(f"{sound.passed} tests pass on the code as it is", flush=True)
    caught = 0
    for mutant, verdict, is_caught in _verdicts(mutants, copies):
        caught += is_caught
        print(f"{'caught' if is_caught else 'ALIVE':6}  {mutant.name:45}  {verdict}", flush=True)
    alive = len(mutants) - caught
    print(f"\n{caught} caught, {alive} alive, in {time.monotonic() - started:.0f} s")
    return 1 if alive else 0


def _verdicts(mutants: Sequence[Mutant], copies: Sequence[Copy]) -> Iterator[tuple[Mutant, str, bool]]:
    """Each mutant, in order, with what its test said and whether that catches it."""
    free: SimpleQueue[Copy] = SimpleQueue()
    for copy in copies:
        free.put(copy)

    def run(mutant: Mutant) -> Report:
        copy = free.get()
        try:
            return copy.run_mutated(mutant)
        except PatchError as error:
            return Report(0, broken=[str(error)])
        finally:
            free.put(copy)

    with ThreadPoolExecutor(len(copies)) as pool:
        for mutant, report in zip(mutants, pool.map(run, mutants), strict=True):
            if report.broken:
                yield mutant, f"not by an assertion: {report.broken[0][:500]}", False
            elif report.failed:
                yield mutant, mutant.test, True
            else:
                yield mutant, f"{mutant.test} passes", False


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
