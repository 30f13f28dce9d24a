"""Modules and functions stay small."""

import ast

from tests.architecture.sources import ROOT, parsed, python_files

MODULE_LINES_MAX = 300
FUNCTION_LINES_MAX = 70


def test_modules_are_small() -> None:
    lines = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in python_files()}
    assert len(lines) > 100
    assert {str(path): count for path, count in lines.items() if count > MODULE_LINES_MAX} == {}


def test_functions_are_small() -> None:
    large = {
        f"{path}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for path in python_files()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno >= FUNCTION_LINES_MAX
    }
    assert large == {}
