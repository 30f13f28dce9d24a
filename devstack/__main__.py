"""``python -m devstack``: run the local stack until SIGINT or SIGTERM.

Writes DIR/.devstack/env when everything is ready, and removes it at the end. Exit 0 after a signal, 1 when
the stack cannot start or a child ends.
"""

import argparse
import asyncio
import signal
import sys
from pathlib import Path

from devstack.child import ChildError
from devstack.ports import port_number
from devstack.stack import StackOptions, run_stack
from devstack.workspace import AlreadyRunningError, Workspace, claimed


def _options() -> StackOptions:
    parser = argparse.ArgumentParser(prog="python -m devstack", description=__doc__)
    parser.add_argument("--app", type=Path, default=Path.cwd(), help="the clone (default: this directory)")
    parser.add_argument("--servicebus-port", type=port_number, default=0, help="default: a free one")
    parser.add_argument("--cosmos-port", type=port_number, default=0, help="default: a free one")
    parser.add_argument("--functions-port", type=port_number, default=0, help="default: a free one")
    parser.add_argument("--faults", action="store_true", help="let tests ask each part for faults; see README.md")
    arguments = parser.parse_args()
    if not arguments.app.is_dir():
        parser.error(f"--app: {arguments.app} is no directory")
    return StackOptions(
        app=arguments.app.resolve(),
        service_bus_port=arguments.servicebus_port,
        cosmos_port=arguments.cosmos_port,
        functions_port=arguments.functions_port,
        faults=arguments.faults,
    )


async def _run(options: StackOptions, workspace: Workspace) -> None:
    running = asyncio.create_task(run_stack(options, workspace))
    for stop in (signal.SIGTERM, signal.SIGINT):
        # A second signal must not interrupt the clean stop.
        asyncio.get_running_loop().add_signal_handler(stop, lambda: running.cancelling() or running.cancel())
    try:
        await running
    except asyncio.CancelledError:
        return


def main() -> int:
    """Run the stack and return the exit code."""
    options = _options()
    try:
        with claimed(options.app) as workspace:
            asyncio.run(_run(options, workspace))
    except (AlreadyRunningError, ChildError) as error:
        print(f"devstack: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
