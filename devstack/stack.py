"""The local stack: Service Bus emulator, Cosmos DB emulator and Functions host, as three child processes.

The Functions host ends by itself with exit code 0 when its worker crashed too often; it is started again,
as the platform does. Any other end of a child ends the stack.
"""

import asyncio
import secrets
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from devstack.child import Child
from devstack.workspace import Workspace

# The Functions host gives what runs 10 s, and its worker 1 s more.
_FUNCTIONS_STOP_SECONDS: Final = 20.0
_EMULATOR_STOP_SECONDS: Final = 5.0


@dataclass(frozen=True, kw_only=True)
class StackOptions:
    """The app's directory, the ports (0 is a free one), and whether tests may ask for faults."""

    app: Path
    service_bus_port: int
    cosmos_port: int
    functions_port: int
    faults: bool = False

    @property
    def control(self) -> list[str]:
        """The arguments by which each part opens its control API, or not."""
        return ["--control-port", "0"] if self.faults else []


async def run_stack(options: StackOptions, workspace: Workspace) -> None:
    """Run the stack until cancelled, which stops it cleanly.

    Raises:
        ChildError: a child could not start, or ended.
    """
    async with AsyncExitStack() as cleanup:
        emulators = await _start_emulators(options, workspace, cleanup)
        settings = {
            "ServiceBusConnection": str(emulators["servicebus"][1]["connectionString"]),
            "CosmosConnection": str(emulators["cosmos"][1]["connectionString"]),
        }
        control = {
            f"{name.upper()}_CONTROL": str(ready["control"]) for name, (_, ready) in emulators.items() if options.faults
        }
        await _serve_functions(options, workspace, settings, control, [child for child, _ in emulators.values()])


async def _start_emulators(
    options: StackOptions, workspace: Workspace, cleanup: AsyncExitStack
) -> dict[str, tuple[Child, Mapping[str, object]]]:
    topology = str(options.app / "infra" / "topology.json")
    ports = {"servicebus": options.service_bus_port, "cosmos": options.cosmos_port}
    children = list[Child]()
    for name, port in ports.items():
        arguments = ["--topology", topology, "--port", str(port), *options.control]
        child = await Child.spawn(name, arguments, log_path=_fresh_log(workspace, name))
        cleanup.push_async_callback(child.stop, _EMULATOR_STOP_SECONDS)
        children.append(child)
    ready = await asyncio.gather(*(child.ready() for child in children))
    return {child.name: (child, answer) for child, answer in zip(children, ready, strict=True)}


async def _serve_functions(
    options: StackOptions,
    workspace: Workspace,
    settings: Mapping[str, str],
    control: Mapping[str, str],
    emulators: list[Child],
) -> None:
    """Run the Functions host, and run it again whenever it recycles itself, with the same port and key."""
    key, port = secrets.token_urlsafe(32), options.functions_port
    log_path = _fresh_log(workspace, "functions")
    while True:
        # In one word: a key may begin with a dash.
        arguments = ["--app", str(options.app), "--port", str(port), f"--key={key}", *options.control]
        functions = await Child.spawn("functions", arguments, log_path=log_path, environment=settings)
        try:
            ready = await functions.ready()
            port = int(str(ready["port"]))
            own_control = {"FUNCTIONS_CONTROL": str(ready["control"])} if options.faults else {}
            urls = {"FUNCTIONS_URL": str(ready["url"]), "FUNCTIONS_KEY": key}
            workspace.write_env({**settings, **urls, **control, **own_control})
            print(f"The local stack is ready: {ready['url']} (addresses and keys: {workspace.env_path})", flush=True)
            try:
                await _until_recycled(functions, emulators)
            finally:
                workspace.env_path.unlink(missing_ok=True)
        finally:
            await functions.stop(_FUNCTIONS_STOP_SECONDS)


async def _until_recycled(functions: Child, emulators: list[Child]) -> None:
    children = {asyncio.create_task(child.exited()): child for child in (functions, *emulators)}
    try:
        ended, _ = await asyncio.wait(children, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in children:
            task.cancel()
    for task in ended:
        if children[task] is not functions or task.result() != 0:
            raise children[task].ended()


def _fresh_log(workspace: Workspace, name: str) -> Path:
    path = workspace.log_path(name)
    path.write_bytes(b"")
    return path
