"""Who may import whom, where import-linter cannot say it: single files, parts of foreign packages."""

import importlib
from importlib.metadata import packages_distributions

import pytest

from tests.architecture.sources import ROOT, imports_any, python_files

OURS = ("shared", "blueprints", "ordering", "samples", "devstack", "devsetup", "bench", "tests")


def test_only_blueprints_and_the_app_import_the_functions_library() -> None:
    importers = {path.parts[0] for path in python_files() if imports_any(path, ("azure.functions",))}
    # Tests and benchmarks have functions of their own.
    assert importers == {"blueprints", "function_app.py", "devstack", "bench", "tests"}
    assert not [
        path
        for path in python_files("devstack", "bench", "tests")
        if imports_any(path, ("azure.functions",)) and path.parts[1] not in {"tests", "apps", "e2e"}
    ]


@pytest.mark.parametrize(
    ("of", "never"),
    [
        (("ordering",), ("azure", "azurefunctions", "grpc", "aiohttp", "blueprints", "function_app")),
        (("shared",), ("ordering", "blueprints", "function_app", "samples", "devstack", "devsetup", "bench", "tests")),
        (("devstack",), ("ordering", "blueprints", "function_app", "samples", "shared", "devsetup", "bench", "tests")),
        (("samples",), ("ordering", "blueprints", "function_app", "shared", "devstack", "devsetup", "bench", "tests")),
    ],
)
def test_nothing_imports_upwards(of: tuple[str, ...], never: tuple[str, ...]) -> None:
    assert python_files(*of)
    assert [str(path) for path in python_files(*of) if imports_any(path, never)] == []


def test_the_engine_and_the_events_know_no_azure() -> None:
    pure = [path for path in python_files("shared") if path.parts[1] in {"idempotency", "outbox", "testing", "http"}]
    assert len(pure) > 20
    assert [str(path) for path in pure if imports_any(path, ("azure", "azurefunctions", "grpc", "aiohttp"))] == []


def test_no_running_code_imports_the_test_kit() -> None:
    running = [
        path
        for path in python_files("shared", "ordering", "blueprints", "function_app.py")
        if path.parts[:2] != ("shared", "testing")
    ]
    assert [str(path) for path in running if imports_any(path, ("shared.testing", "pytest", "hypothesis"))] == []


@pytest.mark.parametrize("name", OURS)
def test_no_installed_package_hides_one_of_ours(name: str) -> None:
    # The worker puts the app's folder last on sys.path: an installed package of the same name would win.
    assert name not in packages_distributions()
    file = importlib.import_module(name).__file__
    assert file is not None
    assert file.startswith(str(ROOT))
