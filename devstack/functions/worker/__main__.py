"""Entry of the worker process, started by path with the arguments of the real host.

Source: Azure Functions host 4.1037, the command line of its Python worker.
"""

import argparse
import asyncio
import sys
from pathlib import Path


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="worker", allow_abbrev=False)
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--workerId", dest="worker_id", required=True)
    # The app's settlement client reads the --functions-* ones and the message length from sys.argv.
    return parser.parse_known_args()[0]


def main() -> None:
    """Serve the host until its stream ends."""
    arguments = _arguments()
    script_directory = str(Path(__file__).resolve().parent)
    repository = str(Path(__file__).resolve().parents[3])
    sys.path.insert(0, repository)
    from devstack.functions.worker.conversation import converse

    # The app must find its own packages, not those of the repository that holds this host. As on Azure, its
    # directory comes last: an installed package of the same name shadows the app's.
    sys.path[:] = [entry for entry in sys.path if entry not in {repository, script_directory}]
    sys.path.append(str(Path.cwd()))
    asyncio.run(converse(f"{arguments.host}:{arguments.port}", arguments.worker_id))


if __name__ == "__main__":
    main()
