"""Every benchmark measures something, on a few messages; how fast is no test's business."""

import importlib
from pathlib import Path
from typing import Any

import pytest

import bench
from bench.__main__ import NAMES, main

FEW: dict[str, dict[str, Any]] = {
    "cold_import": {"RUNS": 1},
    "cpu": {"ORDERS": 10, "WARM_UP": 1},
    "engine": {"ROUNDS": 1, "BLOCK": 16},
    "growth": {"STEPS": (20, 40), "WINDOW": 10, "CHUNK": 10},
    "host": {"ROWS": None},
    "long_sessions": {"SESSIONS": 2, "MESSAGES": 8, "WARM_UP": 2},
    "new_orders": {"COUNTS": {1: 2, 16: 20}, "WARM_UP": 2},
}


def test_every_benchmark_is_listed(capsys: pytest.CaptureFixture[str]) -> None:
    measuring = {
        path.stem for path in Path(bench.__path__[0]).glob("*.py") if hasattr(_module(path.stem), "run")
    }  # fmt: skip
    assert measuring == set(NAMES) == set(FEW)
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(NAMES)


def test_an_unknown_benchmark_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["engine", "nothing"])
    assert ended.value.code == 2
    assert "there is no benchmark nothing" in capsys.readouterr().err


@pytest.mark.parametrize("name", NAMES)
def test_each_measures(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module = _module(name)
    few = {**FEW[name], "ROWS": module.ROWS[2:3]} if name == "host" else FEW[name]
    for constant, value in few.items():
        monkeypatch.setattr(module, constant, value)
    figures = list(module.run())
    assert figures
    assert all(figure.value > 0 and figure.what and figure.unit for figure in figures)


def _module(name: str) -> Any:  # noqa: ANN401 - a module of the package
    return importlib.import_module(f"bench.{name}")
