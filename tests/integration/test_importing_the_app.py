"""Importing the function app needs no setting and opens no connection: a scale-out must not depend on either."""

import os
import subprocess
import sys

from tests.integration.emulators import ROOT

# Sockets may be made, as an event loop makes a pair of them, but none may look a name up, connect or listen.
PROGRAM = """
import asyncio, socket, threading

def refuse(*arguments, **options):
    raise AssertionError(f"the import opened a connection: {arguments[1:]}")

class Socket(socket.socket):
    connect = connect_ex = bind = listen = sendto = refuse

socket.socket = Socket
socket.create_connection = socket.create_server = socket.getaddrinfo = refuse

import function_app

print(len(function_app.app.get_functions()), threading.active_count())
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-W", "error", "-c", program],
        cwd=ROOT,
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_an_empty_environment_and_no_network_are_enough() -> None:
    done = run(PROGRAM)
    assert (done.returncode, done.stderr) == (0, "")
    # Twelve functions, and no thread beside the main one.
    assert done.stdout.split() == ["12", "1"]


def test_what_an_import_must_not_do_would_be_noticed() -> None:
    done = run(PROGRAM.replace("import function_app", "socket.socket().connect(('127.0.0.1', 1))"))
    assert done.returncode == 1
    assert "the import opened a connection: (('127.0.0.1', 1),)" in done.stderr


def test_no_client_library_is_loaded_before_it_is_used() -> None:
    done = run("import sys, function_app; print(*(name for name in sys.modules))")
    loaded = set(done.stdout.split())
    assert "function_app" in loaded
    assert not loaded & {"azure.cosmos", "azure.identity", "grpc", "aiohttp"}
