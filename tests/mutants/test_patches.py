"""Mutants cannot rot: each still fits the code, still is Python, and its test is still there. They run elsewhere."""

import ast

import pytest

from tests.architecture.sources import ROOT
from tests.mutants.__main__ import main
from tests.mutants.catalogue import MUTANTS
from tests.mutants.mutant import Mutant, PatchError


def test_there_are_mutants_and_each_has_a_name_of_its_own() -> None:
    assert len(MUTANTS) >= 40
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_fits_the_code(mutant: Mutant) -> None:
    source = (ROOT / mutant.file).read_text(encoding="utf-8")
    mutated = mutant.of(source)
    # Another syntax tree: a mutant that changes a comment alone would live for ever.
    assert ast.dump(ast.parse(mutated)) != ast.dump(ast.parse(source))
    file, _, test = mutant.test.partition("::")
    assert f"def {test.partition('[')[0]}(" in (ROOT / file).read_text(encoding="utf-8")


@pytest.mark.parametrize(("source", "found"), [("a = 1\n", 0), ("b = 1\nb = 1\n", 2)])
def test_a_mutant_that_no_longer_fits_is_named(source: str, found: int) -> None:
    mutant = Mutant("b-is-two", "b.py", "b = 1", "b = 2", "test_b.py::test_b")
    with pytest.raises(PatchError, match=f"b-is-two: its text is found {found} times in b.py, not once"):
        mutant.of(source)


def test_the_list_names_each_mutant_its_file_and_its_test(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--list"]) == 0
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert lines == [[mutant.name, mutant.file, mutant.test] for mutant in MUTANTS]


def test_a_name_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["hash-ignored", "no-such"])
    assert ended.value.code == 2
    assert "there is no mutant no-such; --list names them" in capsys.readouterr().err
