"""The parts of a stack, each killed and started again at its own address, as a soak needs it."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
import urllib.request
from contextlib import suppress
from pathlib import Path

from tests.running_stack import ROOT, deployed_app


class Part:
    """One part on fixed ports; what it logs is appended to one file."""

    def __init__(self, name: str, folder: Path, arguments: list[str], settings: dict[str, str] | None = None) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        self._control_port = _free_port()
        self._arguments = [*arguments, "--control-port", str(self._control_port)]
        self._settings = settings or {}
        self.ready: dict[str, str] = {}
        self._process = self._start()

    @property
    def has_ended(self) -> bool:
        """Whether it ended by itself, as a host does that recycles itself."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End it without a word."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(10)

    def start(self) -> None:
        """Start it again."""
        self._process = self._start()

    def kill_child(self) -> bool:
        """Kill its child process (the host's worker); False if there is none right now."""
        for stat in Path("/proc").glob("[0-9]*/stat"):
            # Processes come and go while they are looked at.
            with suppress(OSError, IndexError):
                if int(stat.read_text().rpartition(")")[2].split()[1]) == self._process.pid:
                    os.kill(int(stat.parent.name), signal.SIGKILL)
                    return True
        return False

    def ask_for(self, fault: dict[str, object], **rule: object) -> None:
        """Ask for a fault; one that cannot happen now is not missed."""
        body = json.dumps({"fault": fault, **rule}).encode()
        with suppress(OSError), urllib.request.urlopen(self._faults, body) as answer:  # noqa: S310 - loopback
            answer.read()

    def forget_faults(self) -> None:
        """Let nothing more go wrong."""
        forget = urllib.request.Request(self._faults, method="DELETE")  # noqa: S310 - loopback
        with suppress(OSError), urllib.request.urlopen(forget) as answer:  # noqa: S310 - loopback
            answer.read()

    @property
    def _faults(self) -> str:
        return f"http://127.0.0.1:{self._control_port}/faults"

    def _start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", f"devstack.{self.name}", *self._arguments]
        with self.log.open("a", encoding="utf-8") as log:
            process = subprocess.Popen(  # noqa: S603 - our own interpreter
                command, cwd=ROOT, env=os.environ | self._settings, stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert process.stdout is not None

        def read_ready() -> None:
            line = process.stdout.readline() if process.stdout else ""
            if line:
                self.ready = json.loads(line)

        # A host waits for a broker that is down, and says nothing until then.
        reading = threading.Thread(target=read_ready, daemon=True)
        reading.start()
        reading.join(30)
        return process


class Parts:
    """Service Bus, Cosmos DB (on a file) and the Functions host with the app."""

    def __init__(self, folder: Path) -> None:
        app = deployed_app(folder / "app")
        topology = json.loads((app / "infra" / "topology.json").read_text(encoding="utf-8"))
        # Azure's own limit: a soak kills more often than the local override forgives.
        del topology["serviceBus"]["queues"]["orders"]["local"]["maxDeliveryCount"]
        (app / "infra" / "topology.json").write_text(json.dumps(topology), encoding="utf-8")
        of_topology = ["--topology", str(app / "infra" / "topology.json")]
        self.broker = Part("servicebus", folder, [*of_topology, "--port", str(_free_port())])
        key = "a2V5a2V5a2V5a2V5"
        store = [*of_topology, "--port", str(_free_port()), f"--key={key}", "--data", str(folder / "store.db")]
        self.store = Part("cosmos", folder, store)
        self.env = {
            "ServiceBusConnection": self.broker.ready["connectionString"],
            "CosmosConnection": self.store.ready["connectionString"],
        }
        host = ["--app", str(app), "--port", str(_free_port()), f"--key={secrets.token_urlsafe(16)}"]
        settings = {**self.env, "RETRY_WAIT_SECONDS_MAX": "0.5", "STORE_CALL_SECONDS": "1", "SEND_SECONDS": "3"}
        self.host = Part("functions", folder, host, settings)
        self.env |= {"FUNCTIONS_URL": self.host.ready["url"], "FUNCTIONS_KEY": self.host.ready["key"]}

    def stop(self) -> None:
        """End all."""
        for part in (self.host, self.store, self.broker):
            part.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
