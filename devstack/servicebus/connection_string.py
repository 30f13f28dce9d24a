"""Connection strings, as the SDKs take them."""

from dataclasses import dataclass, field
from typing import Final, Self
from urllib.parse import urlsplit

KEY_NAME: Final = "RootManageSharedAccessKey"


@dataclass(frozen=True, slots=True)
class ConnectionString:
    """Where the broker listens, and the key to it."""

    host: str
    port: int
    key_name: str
    key: str = field(repr=False)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a connection string.

        Raises:
            ValueError: a part is missing or malformed; the error names it, and never shows the key.
        """
        parts = dict(part.split("=", 1) for part in text.split(";") if "=" in part)
        for name in ("Endpoint", "SharedAccessKeyName", "SharedAccessKey"):
            if not parts.get(name):
                raise ValueError(f"connection string: {name} is missing")
        endpoint = urlsplit(parts["Endpoint"])
        if endpoint.scheme != "sb" or not endpoint.hostname or not endpoint.port:
            raise ValueError("connection string: Endpoint has to be sb://host:port")
        return cls(endpoint.hostname, endpoint.port, parts["SharedAccessKeyName"], parts["SharedAccessKey"])

    def __str__(self) -> str:
        """Return the text form, key included."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return (
            f"Endpoint=sb://{host}:{self.port};SharedAccessKeyName={self.key_name};"
            f"SharedAccessKey={self.key};UseDevelopmentEmulator=true;"
        )
