"""Runs the emulator: `python -m devstack.servicebus --topology FILE`.

Prints one JSON line when a client of its own has been through it: connected, authorized, and peeked into every
queue. Logs go to standard error. SIGTERM and SIGINT end it with exit code 0.
"""

import argparse
import asyncio
import json
import logging
import secrets
import signal
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from devstack.control import serve_control
from devstack.ports import port_number
from devstack.servicebus.broker.settings import QueueSettings
from devstack.servicebus.client import Connection
from devstack.servicebus.connection_string import ConnectionString
from devstack.servicebus.server.listener import Server
from devstack.servicebus.topology import TopologyError, load_queues


def main() -> int:
    """Parse the command line, serve until a signal, and return the exit code."""
    arguments = _parser().parse_args()
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    try:
        queues = load_queues(arguments.topology)
        key = arguments.key or secrets.token_urlsafe(32)
        asyncio.run(_serve(queues, arguments.host, arguments.port, key, arguments.control_port))
    except TopologyError as error:
        print(f"devstack.servicebus: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(
            f"devstack.servicebus: cannot listen on {arguments.host}:{arguments.port} ({error.strerror}). "
            "Stop what uses it, or choose another port (0: a free one).",
            file=sys.stderr,
        )
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m devstack.servicebus", description=__doc__)
    parser.add_argument("--topology", type=Path, required=True, help="the file that names the queues")
    parser.add_argument("--host", default="127.0.0.1", help="where to listen (default: %(default)s)")
    parser.add_argument("--port", type=port_number, default=0, help="0 takes any free one (default: %(default)s)")
    parser.add_argument("--key", help="the shared access key (default: a fresh random one)")
    parser.add_argument("--control-port", type=port_number, help="take faults there, on loopback (default: none)")
    return parser


async def _serve(queues: list[QueueSettings], host: str, port: int, key: str, control_port: int | None) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = Server(queues, key=key)
    connection_string = await server.start(host, port)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(server.stop)
        await _probe(connection_string, queues)
        ready = {"ready": True, "port": connection_string.port, "connectionString": str(connection_string)}
        if control_port is not None:
            ready["control"] = await stack.enter_async_context(serve_control(server.faults, control_port))
        print(json.dumps(ready), flush=True)
        await stop.wait()


async def _probe(connection_string: ConnectionString, queues: list[QueueSettings]) -> None:
    """Go the way of a client: socket, token, management of every queue."""
    connection = await Connection.open(str(connection_string))
    try:
        for queue in queues:
            await connection.peek(queue.name, 1)
    finally:
        await connection.close()


if __name__ == "__main__":
    sys.exit(main())
