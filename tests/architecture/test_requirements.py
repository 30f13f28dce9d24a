"""What is deployed is what is imported, and everything is pinned."""

import re
import sys
from importlib.metadata import packages_distributions

from tests.architecture.sources import DEPLOYED, ROOT, imports, python_files

# Loaded by name, not by an import of ours.
NOT_IMPORTED = {
    "aiohttp",  # azure.core's transport
    "azure-functions-runtime",  # the worker library that Azure runs
}


def lines_of(name: str) -> list[str]:
    text = (ROOT / name).read_text(encoding="utf-8")
    return [words[0] for line in text.splitlines() if (words := line.split("#")[0].split()) and words[0][0] != "-"]


def pins(name: str) -> dict[str, str]:
    return dict(line.split("==") for line in lines_of(name))


def test_every_line_is_pinned_and_has_its_reason() -> None:
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
            if line[0] not in "#-":
                assert re.fullmatch(r"[a-z0-9-]+==[0-9][0-9a-z.]* +# \S.*", line), line


def test_the_constraints_agree() -> None:
    constraints = pins("constraints.txt")
    for name in ("requirements.txt", "requirements-local.txt", "requirements-dev.txt"):
        assert pins(name).items() <= constraints.items()


def test_what_is_deployed_is_what_is_imported() -> None:
    distributions = packages_distributions()
    imported: set[str] = set()
    for path in python_files(*DEPLOYED):
        for name in imports(path):
            top = name.partition(".")[0]
            if top in sys.stdlib_module_names or top in {"shared", "ordering", "blueprints", "function_app"}:
                continue
            imported |= _distributions(name, distributions[top])
    assert imported == set(pins("requirements.txt")) - NOT_IMPORTED | {"azure-core"}
    # azure-core comes with each of the SDKs, in the version that they agree on.
    assert "azure-core" in pins("constraints.txt")


def test_nothing_is_there_that_is_not_used_yet() -> None:
    assert "azure-functions-durable" not in pins("constraints.txt")


def _distributions(module: str, candidates: list[str]) -> set[str]:
    """The distribution of a module; packages under `azure` share that name and are told apart by the next one."""
    if len(set(candidates)) == 1:
        return {candidates[0].lower()}
    if module == "azure":
        return set()
    second = module.split(".")[1]
    return {name for name in candidates if name.lower() == f"azure-{second}"}
