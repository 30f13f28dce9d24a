"""``python -m devstack.functions --app DIR``: serve a function app until SIGTERM or SIGINT.

Prints one JSON line on standard output when ready; everything else goes to standard error. Exit 0 after a
signal and when the host recycles itself (start it again, as the platform does); 1 when the app or a setting
must be mended.
"""

import argparse
import asyncio
import json
import os
import secrets
import signal
import sys
from pathlib import Path

from devstack.functions.app_settings import SettingError
from devstack.functions.console import log_to_console
from devstack.functions.host import HostOptions, NoFunctionsError, Ready, serve
from devstack.functions.host_json import HostJsonError
from devstack.functions.http.front import PortTakenError
from devstack.functions.supervisor.channel import AppError
from devstack.functions.triggers import UnsupportedBindingError
from devstack.ports import port_number


def _options() -> HostOptions:
    parser = argparse.ArgumentParser(prog="python -m devstack.functions", description=__doc__)
    parser.add_argument("--app", type=Path, required=True, help="directory with function_app.py and host.json")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=port_number, default=0, help="port to listen on (default: a free one)")
    parser.add_argument("--key", default=None, help="key of all functions (default: a random one)")
    parser.add_argument("--control-port", type=port_number, help="take faults there, on loopback (default: none)")
    arguments = parser.parse_args()
    return HostOptions(
        app=arguments.app.resolve(),
        host=arguments.host,
        port=arguments.port,
        key=arguments.key or secrets.token_urlsafe(32),
        control_port=arguments.control_port,
    )


async def _run(options: HostOptions) -> int:
    def announce(ready: Ready) -> None:
        url = f"http://{options.host}:{ready.port}"
        line = {
            "ready": True,
            "port": ready.port,
            "url": url,
            "key": options.key,
            "functions": ready.functions,
            **({} if ready.control is None else {"control": ready.control}),
        }
        print(json.dumps(line), flush=True)

    serving = asyncio.create_task(serve(options, os.environ, announce))
    for stop in (signal.SIGTERM, signal.SIGINT):
        # A second signal must not interrupt the clean stop.
        asyncio.get_running_loop().add_signal_handler(stop, lambda: serving.cancelling() or serving.cancel())
    try:
        await serving
    except asyncio.CancelledError:
        return 0
    except (
        AppError,
        HostJsonError,
        NoFunctionsError,
        PortTakenError,
        SettingError,
        UnsupportedBindingError,
    ) as error:
        print(f"devstack.functions: {error}", file=sys.stderr)
        return 1
    return 0


def main() -> None:
    """Run the host and exit with its code."""
    log_to_console()
    sys.exit(asyncio.run(_run(_options())))


if __name__ == "__main__":
    main()
