"""Operations on an entity's `$management`, and tokens put to `$cbs`; links are opened when first needed."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

from devstack.servicebus.amqp.types import Value
from devstack.servicebus.client.errors import (
    SESSION_LOCK_LOST,
    NotAuthorized,
    RequestRefused,
    SessionLockLost,
)
from devstack.servicebus.client.requests import RequestLinks
from devstack.servicebus.connection_string import ConnectionString
from devstack.servicebus.sas import sign

if TYPE_CHECKING:
    from devstack.servicebus.client.wire import Wire

_TOKEN_LIFETIME: Final = timedelta(hours=1)
_TOKEN_MARGIN: Final = timedelta(minutes=10)
_OK: Final = range(200, 300)
_UNAUTHORIZED: Final = 401


class Tokens:
    """The tokens of one connection."""

    def __init__(self, wire: "Wire", connection_string: ConnectionString) -> None:
        self._wire = wire
        self._connection_string = connection_string
        self._links: RequestLinks | None = None
        self._expires_at: dict[str, datetime] = {}

    async def ensure(self, entity: str) -> None:
        """Put a token for an entity, unless one holds for a while.

        Raises:
            NotAuthorized: the broker refuses the key.
            ConnectionLost: the connection is gone.
        """
        now = datetime.now(UTC)
        known = self._expires_at.get(entity)
        if known is not None and known - now > _TOKEN_MARGIN:
            return
        if self._links is None or not self._links.is_open:
            self._links = RequestLinks(self._wire, "$cbs")
        target, expires_at = self._connection_string, now + _TOKEN_LIFETIME
        resource = f"sb://{target.host}:{target.port}/{entity}"
        answer = await self._links.request(
            {"operation": "put-token", "type": "servicebus.windows.net:sastoken", "name": resource},
            sign(resource, target.key_name, target.key, expires_at),
        )
        properties = answer.application_properties
        code, description = properties.get("status-code"), str(properties.get("status-description"))
        if code == _UNAUTHORIZED:
            raise NotAuthorized(description)
        if code not in _OK:
            raise RequestRefused(str(code), description)
        self._expires_at[entity] = expires_at


class Management:
    """`$management` of one entity."""

    def __init__(self, wire: "Wire", entity: str) -> None:
        self._wire = wire
        self._node = f"{entity}/$management"
        self._links: RequestLinks | None = None

    async def request(
        self, operation: str, body: Mapping[Value, Value], *, link_name: str | None = None
    ) -> Mapping[Value, Value]:
        """Carry out an operation and return its answer's body, empty for "no content".

        Raises:
            SessionLockLost: it is about a session whose lock expired.
            RequestRefused: the broker refused for another reason.
            EntityNotFound, NotAuthorized: there is no such entity, or no token for it.
            ConnectionLost: the connection is gone.
        """
        if self._links is None or not self._links.is_open:
            self._links = RequestLinks(self._wire, self._node)
        properties: dict[Value, Value] = {"operation": f"com.microsoft:{operation}", "type": "entity-mgmt"}
        if link_name is not None:
            properties["associated-link-name"] = link_name
        answer = await self._links.request(properties, body)
        status = answer.application_properties
        if status.get("statusCode") in _OK:
            value = answer.body_sections[0].value
            return value if isinstance(value, dict) else {}
        condition, description = str(status.get("errorCondition")), str(status.get("statusDescription"))
        if condition == SESSION_LOCK_LOST:
            raise SessionLockLost(f"{condition}: {description}")
        raise RequestRefused(condition, description)
