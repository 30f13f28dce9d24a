"""``python -m devstack.cosmos``: run the emulator until SIGTERM or SIGINT."""

import argparse
import asyncio
import base64
import binascii
import json
import logging
import secrets
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from devstack.control import serve_control
from devstack.cosmos.faults.rules import FaultBook
from devstack.cosmos.server import NotReadyError, serve
from devstack.cosmos.store.schema import StoreError
from devstack.cosmos.store.store import Store
from devstack.cosmos.topology import TopologyError, read_topology
from devstack.ports import port_number

_KEY_BYTES = 64


class OptionError(Exception):
    """A command line option breaks a rule; the message names it and the fix."""


@dataclass(frozen=True, slots=True)
class Options:
    """The command line."""

    topology: Path
    host: str
    port: int
    key: str
    data: Path | None
    control_port: int | None


def main(arguments: list[str] | None = None) -> int:
    """Run the emulator; returns the exit code, after one line on stderr if it is 1."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    options = _parse(arguments)
    try:
        asyncio.run(_run(options))
    except (OptionError, TopologyError, StoreError, NotReadyError) as error:
        sys.stderr.write(f"devstack.cosmos: {error}\n")
        return 1
    except OSError as error:
        sys.stderr.write(
            f"devstack.cosmos: cannot listen on {options.host}:{options.port} ({error.strerror}); "
            "stop what uses it, or choose another port (0: a free one)\n"
        )
        return 1
    return 0


async def _run(options: Options) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    key = _decode_key(options.key)
    store = Store(read_topology(options.topology), path=options.data)
    ready: dict[str, object] = {"ready": True}
    async with AsyncExitStack() as stack:
        stack.callback(store.close)
        faults = None
        if options.control_port is not None:
            faults = FaultBook()
            ready["control"] = await stack.enter_async_context(serve_control(faults, options.control_port))
        port = await stack.enter_async_context(serve(store, key, options.host, options.port, faults))
        endpoint = f"http://{options.host}:{port}/"
        ready |= {"port": port, "connectionString": f"AccountEndpoint={endpoint};AccountKey={options.key};"}
        print(json.dumps(ready), flush=True)
        await stop.wait()


def _decode_key(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise OptionError(f"--key is not base64 ({error}); leave it out for a random key") from error


def _parse(arguments: list[str] | None) -> Options:
    parser = argparse.ArgumentParser(prog="python -m devstack.cosmos", description=__doc__)
    parser.add_argument("--topology", type=Path, required=True, help="topology file (JSON)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=port_number, default=0, help="0: a free one")
    parser.add_argument("--key", help="account key, base64 (default: random)")
    parser.add_argument("--data", type=Path, help="SQLite file (default: in memory)")
    parser.add_argument("--control-port", type=port_number, help="take faults there, on loopback (default: none)")
    parsed = parser.parse_args(arguments)
    key = parsed.key or base64.b64encode(secrets.token_bytes(_KEY_BYTES)).decode("ascii")
    return Options(parsed.topology, parsed.host, parsed.port, key, parsed.data, parsed.control_port)


if __name__ == "__main__":
    sys.exit(main())
