"""docs/guarantees.md names files and tests that are there, and waits that are the code's."""

import re
from pathlib import Path

from shared.idempotency.backoff import Limits, wait_before_try

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "guarantees.md").read_text(encoding="utf-8")
NAMED = sorted(set(re.findall(r"`((?:shared|tests)/[\w/]+\.py)(?:::(\w+))?`", PAGE)))


def test_every_promise_names_mechanisms_and_proofs() -> None:
    rows = re.findall(r"^\| .* \|$", PAGE.partition("## What is not promised")[0], re.MULTILINE)
    proofs = [row for row in rows if not row.startswith(("| fault |", "|---"))]
    assert len(proofs) > 15
    assert [row for row in proofs if "`tests/" not in row] == []


def test_every_file_and_test_is_there() -> None:
    assert len(NAMED) > 25
    for file, test in NAMED:
        text = (ROOT / file).read_text(encoding="utf-8")
        assert not test or f"def {test}(" in text, (file, test)


def test_the_waits_are_the_codes() -> None:
    for deliveries, seconds in re.findall(r"^\| [\w ]+ \| (\d+) \| .* \| ([\d,]+) s: ", PAGE, re.MULTILINE):
        waits = sum(wait_before_try(n, limits=Limits(), fraction=0.0) for n in range(1, int(deliveries) + 1))
        wasted = 2 * 110 if deliveries == "25" else 0
        assert waits - wasted == int(seconds.replace(",", ""))
