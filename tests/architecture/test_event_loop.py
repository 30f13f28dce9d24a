"""The worker has one event loop for all functions: nothing that is deployed blocks it or starts another."""

import ast

from tests.architecture.sources import DEPLOYED, imports_any, parsed, python_files

BLOCKING_CALLS = {"time.sleep", "asyncio.run", "asyncio.get_event_loop", "input", "os.system"}
BLOCKING_MODULES = (
    "requests",
    "urllib.request",
    "http.client",
    "socket",
    "subprocess",
    "threading",
    "azure.servicebus.ServiceBusClient",
    "azure.cosmos.CosmosClient",
    "azure.identity.DefaultAzureCredential",
)


def test_nothing_that_blocks_is_called_or_imported() -> None:
    running = [path for path in python_files(*DEPLOYED) if path.parts[:2] != ("shared", "testing")]
    assert len(running) > 30
    calls = {
        f"{path}:{node.lineno} {ast.unparse(node.func)}"
        for path in running
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in BLOCKING_CALLS
    }
    assert calls == set()
    assert [str(path) for path in running if imports_any(path, BLOCKING_MODULES)] == []


def test_every_function_of_a_blueprint_runs_on_the_loop() -> None:
    registered = [
        node
        for path in python_files("blueprints")
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and any(ast.unparse(decorator).startswith("bp.") for decorator in node.decorator_list)
    ]
    assert len(registered) >= 5
    # A plain `def` would run on one of the pool's few threads, each session waiting for one.
    assert [node.name for node in registered if isinstance(node, ast.FunctionDef)] == []
