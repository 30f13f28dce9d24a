"""The repository's Python files, parsed."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
DEPLOYED = ("function_app.py", "blueprints", "ordering", "shared")


@cache
def tracked() -> tuple[Path, ...]:
    """The files that git tracks or would track, relative to the root; all files where there is no git."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],  # noqa: S607 - git, wherever it is
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode == 0:
        return tuple(path for path in map(Path, listed.stdout.splitlines()) if (ROOT / path).is_file())
    hidden = {".venv", ".devstack", "__pycache__"}
    return tuple(
        path.relative_to(ROOT)
        for path in ROOT.rglob("*")
        if path.is_file() and not hidden & set(path.relative_to(ROOT).parts)
    )


@cache
def python_files(*tops: str) -> tuple[Path, ...]:
    """The tracked Python files below these folders, or all."""
    return tuple(path for path in tracked() if path.suffix == ".py" and (not tops or path.parts[0] in tops))


@cache
def parsed(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse((ROOT / path).read_text(encoding="utf-8"), str(path))


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports, wherever in the file: `a.b` for `import a.b` and for `from a.b import c`."""
    for node in ast.walk(parsed(path)):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                # `from azure import functions` names a module too.
                yield from (f"{module}.{name.name}" for name in names)


def imports_any(path: Path, packages: tuple[str, ...]) -> bool:
    """Whether a file imports one of the packages or a module below them."""
    return any(name == package or name.startswith(f"{package}.") for name in imports(path) for package in packages)
