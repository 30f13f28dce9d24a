"""A mutant counts as caught only where its own test fails by an assertion."""

from pathlib import Path

import pytest

from tests.mutants import copies
from tests.mutants.copies import Copy
from tests.mutants.mutant import Mutant, PatchError

FILES = {
    "pyproject.toml": '[tool.pytest.ini_options]\nasyncio_default_fixture_loop_scope = "function"\n',
    "product.py": "def two():\n    return 2\n",
    "test_product.py": "from product import two\n\n\ndef test_two():\n    assert two() == 2\n",
    "test_blind.py": "from product import two\n\n\ndef test_two():\n    two()\n",
}


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    root = tmp_path / "root"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(copies, "ROOT", root)
    monkeypatch.setattr(copies, "tracked", lambda: [Path(name) for name in FILES])
    return Copy(tmp_path / "copy")


def mutant(becomes: str, test: str = "test_product.py::test_two", text: str = "return 2") -> Mutant:
    return Mutant("mutant", "product.py", text, becomes, test)


def test_a_test_that_notices_fails_by_an_assertion_and_the_file_is_put_back(copy: Copy) -> None:
    report = copy.run_mutated(mutant("return 3"))
    assert (report.passed, len(report.failed), report.broken) == (0, 1, [])
    assert report.failed[0].startswith("assert 3 == 2")
    assert (copy.folder / "product.py").read_text(encoding="utf-8") == FILES["product.py"]
    assert copy.run(["test_product.py"]).passed == 1


def test_a_test_that_does_not_notice_passes(copy: Copy) -> None:
    report = copy.run_mutated(mutant("return 3", "test_blind.py::test_two"))
    assert (report.passed, report.failed, report.broken) == (1, [], [])


@pytest.mark.parametrize(
    ("becomes", "words"),
    [("return three", "NameError"), ("return (", "SyntaxError"), ("raise LookupError", "LookupError")],
)
def test_what_fails_otherwise_is_no_catch(copy: Copy, becomes: str, words: str) -> None:
    report = copy.run_mutated(mutant(becomes))
    assert (report.passed, len(report.failed)) == (0, 0)
    assert words in report.broken[0]


def test_a_test_that_is_not_there_is_no_catch(copy: Copy) -> None:
    report = copy.run_mutated(mutant("return 3", "test_product.py::test_three"))
    assert (report.passed, len(report.failed)) == (0, 0)
    assert report.broken[0].startswith("pytest ended with 4: ")
    assert "ERROR: not found" in report.broken[0]


def test_a_run_without_end_is_no_catch(copy: Copy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "RUN_SECONDS_MAX", 0.01)
    assert copy.run_mutated(mutant("return 3")).broken == ["no end within 0 s"]


def test_a_mutant_that_does_not_fit_runs_nothing(copy: Copy) -> None:
    with pytest.raises(PatchError):
        copy.run_mutated(mutant("return 3", text="return 4"))
    assert not (copy.folder / "results.xml").exists()
