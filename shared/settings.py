"""Settings: read once, checked whole, secrets never shown.

Each connection has two styles, as the Functions host has: a flat connection string (local stack, emulators), or
`__`-suffixed parts with a managed identity (Azure). docs/configuration.md lists every setting with its reason.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from shared.idempotency.backoff import Limits
from shared.idempotency.errors import ConfigurationError
from shared.idempotency.messages import BODY_BYTES_MAX

SERVICE_BUS: Final = "ServiceBusConnection"
COSMOS: Final = "CosmosConnection"
COSMOS_DATABASE: Final = "COSMOS_DATABASE"

LEDGER_BYTES_MAX: Final = 4 * 1024 * 1024
"""About 20,000 operations, which take a second of CPU time to check."""

_LIMITS: Final = Limits()


@dataclass(frozen=True, slots=True)
class Identity:
    """Managed identity, or whatever else `DefaultAzureCredential` finds.

    Attributes:
        client_id: of a user-assigned identity; None for the default.
    """

    client_id: str | None


@dataclass(frozen=True, slots=True)
class ServiceBusSettings:
    """How the namespace is reached.

    Attributes:
        connection: connection string, or the fully qualified namespace where an identity is used.
        identity: None where `connection` is a connection string.
    """

    connection: str = field(repr=False)
    identity: Identity | None


@dataclass(frozen=True, slots=True)
class CosmosSettings:
    """How the account is reached.

    Attributes:
        endpoint: of the account.
        credential: account key, or identity.
        database: its name.
    """

    endpoint: str
    credential: str | Identity = field(repr=False)
    database: str


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of the app.

    Attributes:
        service_bus: the namespace.
        cosmos: the account.
        limits: bounds of one delivery.
        body_bytes_max: largest message body taken, over HTTP and from the broker.
        ledger_bytes_max: largest ledger taken over HTTP.
        event_epoch: ends the source of events; raise it after a restore that lost data.
        settlement_seconds: how long the host may take to dead-letter a message.
        send_seconds: how long the broker may take to accept a message.
    """

    service_bus: ServiceBusSettings
    cosmos: CosmosSettings
    limits: Limits
    body_bytes_max: int
    ledger_bytes_max: int
    event_epoch: int
    settlement_seconds: float
    send_seconds: float

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> "Settings":
        """Read the settings.

        Raises:
            ConfigurationError: names every faulty setting, the rule and the fix.
        """
        reader = _Reader(env)
        settings = cls(
            service_bus=_service_bus(reader),
            cosmos=_cosmos(reader),
            limits=Limits(
                wait_seconds_max=reader.number("RETRY_WAIT_SECONDS_MAX", float, _LIMITS.wait_seconds_max, low=0),
                try_seconds=reader.number("TRY_SECONDS", float, _LIMITS.try_seconds, low=0.1),
                store_call_seconds=reader.number("STORE_CALL_SECONDS", float, _LIMITS.store_call_seconds, low=0.1),
                drain_seconds=reader.number("DRAIN_SECONDS", float, _LIMITS.drain_seconds, low=0),
                parked_max=reader.number("PARKED_MAX", int, _LIMITS.parked_max, low=1),
            ),
            body_bytes_max=reader.number("BODY_BYTES_MAX", int, BODY_BYTES_MAX, low=1024),
            ledger_bytes_max=reader.number("LEDGER_BYTES_MAX", int, LEDGER_BYTES_MAX, low=1024),
            event_epoch=reader.number("EVENT_EPOCH", int, 1, low=1),
            settlement_seconds=reader.number("SETTLEMENT_SECONDS", float, 10.0, low=0.1),
            send_seconds=reader.number("SEND_SECONDS", float, 10.0, low=0.1),
        )
        reader.finish()
        return settings


class _Reader:
    """Reads settings and gathers their faults, so that one start shows them all."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self._env = env
        self._faults: list[str] = []

    def fault(self, text: str) -> None:
        self._faults.append(text)

    def text(self, name: str) -> str | None:
        return self._env.get(name, "").strip() or None

    def number[N: (int, float)](self, name: str, kind: type[N], default: N, *, low: float) -> N:
        text = self.text(name)
        if text is None:
            return default
        try:
            value = kind(text)
        except ValueError:
            self.fault(f"{name}: must be a number ({kind.__name__}), at least {low}")
            return default
        if not low <= value < float("inf"):
            self.fault(f"{name}: must be at least {low} and finite")
            return default
        return value

    def connection(self, name: str, part: str, *, example: str) -> tuple[str | None, str | None]:
        """The flat style's and the identity style's value; exactly one of them is not None, or a fault is noted."""
        flat, host = self.text(name), self.text(f"{name}__{part}")
        if flat is not None and host is not None:
            self.fault(f"{name}: both {name} and {name}__{part} are set; keep one")
        elif flat is None and host is None:
            self.fault(f"{name}: is missing; set {name} to a connection string, or {name}__{part} to {example}")
        return flat, host

    def identity(self, name: str) -> Identity:
        return Identity(self.text(f"{name}__clientId") or self.text("AZURE_CLIENT_ID"))

    def finish(self) -> None:
        if self._faults:
            raise ConfigurationError("settings: " + "; ".join(self._faults))


def _service_bus(reader: _Reader) -> ServiceBusSettings:
    part, example = "fullyQualifiedNamespace", "NAME.servicebus.windows.net"
    flat, host = reader.connection(SERVICE_BUS, part, example=example)
    if flat is not None:
        if _parts(flat).get("endpoint") is None:
            reader.fault(f"{SERVICE_BUS}: a connection string has Endpoint=sb://...;SharedAccessKeyName=...")
        return ServiceBusSettings(flat, None)
    if host is not None and ("/" in host or ":" in host or "=" in host):
        reader.fault(f"{SERVICE_BUS}__{part}: must be a host name such as {example}, not a URL")
    return ServiceBusSettings(host or "", reader.identity(SERVICE_BUS))


def _cosmos(reader: _Reader) -> CosmosSettings:
    part, example = "accountEndpoint", "https://NAME.documents.azure.com:443/"
    flat, endpoint = reader.connection(COSMOS, part, example=example)
    database = reader.text(COSMOS_DATABASE) or "ordering"
    if flat is not None:
        parts = _parts(flat)
        if "accountendpoint" not in parts or "accountkey" not in parts:
            reader.fault(f"{COSMOS}: a connection string has AccountEndpoint=...;AccountKey=...")
        return CosmosSettings(parts.get("accountendpoint", ""), parts.get("accountkey", ""), database)
    if endpoint is not None and not endpoint.startswith("https://"):
        reader.fault(f"{COSMOS}__{part}: must be a URL such as {example}")
    return CosmosSettings(endpoint or "", reader.identity(COSMOS), database)


def _parts(connection_string: str) -> dict[str, str]:
    """`Name=value;...` as a mapping with lower-case names; a value may hold `=`."""
    pairs = (item.partition("=") for item in connection_string.split(";"))
    return {name.strip().lower(): value.strip() for name, _, value in pairs if name.strip() and value.strip()}
