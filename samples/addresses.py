"""Where the system under demonstration listens, from the environment that `.devstack/env` describes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Self

QUEUE: Final = "orders"
DATABASE: Final = "ordering"
CONTAINER: Final = "orders"


class DemoError(Exception):
    """The demo cannot go on; the text says why and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Addresses:
    """Connection strings of Service Bus and Cosmos DB, URL and key of the Functions app."""

    service_bus: str = field(repr=False)
    cosmos: str = field(repr=False)
    functions_url: str
    functions_key: str = field(repr=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the four variables.

        Raises:
            DemoError: some are missing; the text names them all.
        """
        names = ("ServiceBusConnection", "CosmosConnection", "FUNCTIONS_URL", "FUNCTIONS_KEY")
        missing = [name for name in names if not environment.get(name)]
        if missing:
            raise DemoError(
                f"the environment lacks {', '.join(missing)}. `python3 dev.py demo` sets them; "
                "beside a running `python3 dev.py start`, load them with: set -a; . .devstack/env; set +a"
            )
        service_bus, cosmos, functions_url, functions_key = (environment[name] for name in names)
        return cls(service_bus=service_bus, cosmos=cosmos, functions_url=functions_url, functions_key=functions_key)
