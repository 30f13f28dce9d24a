"""A copy of the repository in which files are mutated and tests are run."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

from tests.architecture.sources import ROOT, tracked
from tests.mutants.mutant import Mutant

RUN_SECONDS_MAX: Final = 300.0

_BY_ASSERTION: Final = re.compile(r"(\w+\.)*(AssertionError|InvariantError|Failed)\b|assert ")


@dataclass(frozen=True, slots=True)
class Report:
    """How tests ended.

    Attributes:
        passed: how many passed.
        failed: the messages of those that failed by an assertion.
        broken: what else went wrong: errors of imports and fixtures, exceptions, a run that never ended.
    """

    passed: int
    failed: Sequence[str] = ()
    broken: Sequence[str] = ()


class Copy:
    """The repository's files, in a folder of their own."""

    def __init__(self, folder: Path) -> None:
        """Copy them."""
        self.folder = folder
        for path in tracked():
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / path, target)

    def run_mutated(self, mutant: Mutant) -> Report:
        """Run the mutant's test on the mutant, and put the file back.

        Raises:
            PatchError: the mutant no longer fits the code.
        """
        path = self.folder / mutant.file
        sound = path.read_bytes()
        try:
            mutant.put_into(self.folder)
            return self.run([mutant.test])
        finally:
            path.write_bytes(sound)

    def run(self, tests: Sequence[str]) -> Report:
        """Run tests in a process of their own."""
        results = self.folder / "results.xml"
        results.unlink(missing_ok=True)
        command = [
            *(sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"),
            f"--junitxml={results}",
            *tests,
        ]
        # No bytecode: a mutant of the same size within the same second would be taken for what it replaced.
        environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(  # noqa: S603 - the tests of this repository
                command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=RUN_SECONDS_MAX,
                check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Report(0, broken=[f"no end within {RUN_SECONDS_MAX:.0f} s"])
        if done.returncode not in {0, 1}:
            return Report(
                0, broken=[f"pytest ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-1000:]}"]
            )
        return _report(ET.parse(results).getroot())  # noqa: S314 - written by pytest a moment ago


def _report(results: ET.Element) -> Report:
    failed: list[str] = []
    broken: list[str] = []
    passed = 0
    for case in results.iter("testcase"):
        problems = [*case.iter("failure"), *case.iter("error")]
        passed += not problems and case.find("skipped") is None
        for problem in problems:
            message = (problem.get("message") or "").strip()
            is_assertion = problem.tag == "failure" and _BY_ASSERTION.match(message)
            (failed if is_assertion else broken).append(message)
    return Report(passed, failed, broken)
