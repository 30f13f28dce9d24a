from fnmatch import fnmatch
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATTERNS = [
    line
    for line in (ROOT / ".funcignore").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]


def is_deployed(name: str) -> bool:
    return not any(fnmatch(name, pattern) for pattern in PATTERNS)


@pytest.mark.parametrize(
    "name",
    ["function_app.py", "host.json", "requirements.txt", "constraints.txt", "blueprints", "ordering", "shared"],
)
def test_what_the_app_needs_is_deployed(name: str) -> None:
    assert is_deployed(name)


@pytest.mark.parametrize(
    "name",
    [
        "local.settings.json",
        "local.settings.json.example",
        "requirements-dev.txt",
        "requirements-local.txt",
        "README.md",
        "pyproject.toml",
        "dev.py",
        "devsetup",
        "devstack",
        "samples",
        "tests",
        "docs",
        "infra",
        ".devstack",
        ".venv",
        ".mypy_cache",
        ".gitignore",
    ],
)
def test_tools_tests_and_secrets_stay_at_home(name: str) -> None:
    assert not is_deployed(name)


def test_no_pattern_reaches_into_a_package_of_the_app() -> None:
    for package in ("blueprints", "ordering", "shared"):
        parts = {part for path in (ROOT / package).rglob("*.py") for part in path.relative_to(ROOT).parts}
        assert all(is_deployed(part) for part in parts - {"__pycache__"})
