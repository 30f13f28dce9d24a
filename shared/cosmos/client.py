"""The Cosmos DB client: one per process and event loop, with every option said.

Source: azure-cosmos 4.17.1; options and timings measured.
"""

import asyncio
from typing import TYPE_CHECKING

from azure.core.pipeline.transport import AioHttpTransport
from azure.cosmos.aio import ContainerProxy, CosmosClient

from shared.settings import CosmosSettings, Identity

if TYPE_CHECKING:
    from azure.core.credentials_async import AsyncTokenCredential


class Database:
    """A database of the account, through a client that is entered before its first call.

    Only a client that was entered keeps a session. Without one its reads carry no session token, and a replica that
    has not seen this client's last write, or what refused it, may answer them.
    Source: azure-cosmos 4.17.1, `aio.CosmosClient.__aenter__`.
    """

    def __init__(self, client: CosmosClient, name: str) -> None:
        self._client = client
        self._database = client.get_database_client(name)
        self._entering = asyncio.Lock()
        self._is_entered = False

    def container(self, name: str) -> ContainerProxy:
        """A container; call `enter` before it is used."""
        return self._database.get_container_client(name)

    async def enter(self) -> None:
        """Read the account, once.

        Raises:
            AzureError, ValueError, TypeError: it could not be read, as with any call. The next `enter` tries again.
        """
        if self._is_entered:
            return
        async with self._entering:
            if not self._is_entered:
                await self._client.__aenter__()
                self._is_entered = True


def open_client(settings: CosmosSettings, *, call_seconds: float) -> CosmosClient:
    """A client for the account. Nothing is sent before the first call, which reads the account and the container.

    Args:
        settings: account, and key or identity.
        call_seconds: how long one request may take; well below the broker's lock duration.
    """
    return CosmosClient(
        settings.endpoint,
        credential=_credential(settings),
        # Without this, aiohttp looks up .netrc and proxies for every request: half the throughput.
        transport=AioHttpTransport(use_env_settings=False),
        connection_timeout=call_seconds,
        read_timeout=call_seconds,
        # The engine is the one retry layer. A write that the SDK sends again after a lost connection (connect) or a
        # missing answer (read) would be answered with 409 to our own write.
        retry_total=1,
        retry_connect=0,
        retry_read=0,
        # 0 would be taken for "default", which is 9.
        retry_throttle_total=1,
        retry_throttle_backoff_max=1,
        enable_compact_utf8_item_writes=True,
    )


def _credential(settings: CosmosSettings) -> "str | AsyncTokenCredential":
    match settings.credential:
        case Identity(client_id):
            # Loaded only where an identity is used: it brings cryptography along.
            from azure.identity.aio import DefaultAzureCredential

            return DefaultAzureCredential(managed_identity_client_id=client_id)
        case key:
            return key
