"""Broker and store that outlive their hosts, and hosts to start and to end, one or several at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.outside import Outside
from tests.running_stack import Part, Stack, ask_for, running_part


@contextmanager
def backends(app: Path) -> Iterator[Outside]:
    """A broker and a store for an app; without a host, nobody takes a message."""
    topology = ["--topology", str(app / "infra" / "topology.json")]
    with (
        running_part("servicebus", app.parent, *topology) as broker,
        running_part("cosmos", app.parent, *topology) as store,
    ):
        env = {
            "ServiceBusConnection": broker.ready["connectionString"],
            "CosmosConnection": store.ready["connectionString"],
        }
        with Outside.of(Stack(app, env)) as outside:
            yield outside


class Host:
    """A host of the app, with a log of its own.

    Attributes:
        part: its process.
        env: where it is reached.
    """

    def __init__(self, part: Part, log: Path) -> None:
        self.part = part
        self.env = {"FUNCTIONS_URL": part.ready["url"], "FUNCTIONS_KEY": part.ready["key"]}
        self._log = log

    @property
    def log(self) -> str:
        """What it has logged so far."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    @property
    def started(self) -> int:
        """How many runs of the orders' function have begun."""
        return self.log.count("Executing 'Functions.process_order_operation'")

    def ask_for(self, fault: dict[str, object]) -> None:
        """Ask it for a fault; it must have been started with a control port."""
        ask_for(self.part.ready["control"], fault)


@contextmanager
def host(outside: Outside, name: str, settings: dict[str, str], *options: str) -> Iterator[Host]:
    """Start a host; it is killed when the block ends."""
    folder = outside.stack.app.parent / name
    folder.mkdir()
    arguments = ["--app", str(outside.stack.app), *options]
    with running_part("functions", folder, *arguments, settings=outside.stack.env | settings) as part:
        yield Host(part, folder / "functions.log")
