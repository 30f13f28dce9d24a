"""The Service Bus client for sending and probing: one per process and event loop, with every option said.

Source: azure-servicebus 7.15.0. Each sender and receiver holds a connection of its own; opening one takes half a
second, so both are kept.
"""

from azure.servicebus.aio import ServiceBusClient

from shared.settings import ServiceBusSettings

_RETRIES = 2
_BACKOFF_SECONDS = 0.2
_BACKOFF_SECONDS_MAX = 1.0


def open_client(settings: ServiceBusSettings) -> ServiceBusClient:
    """A client for the namespace. Nothing is sent before the first sender or receiver is used."""
    # The SDK reopens a link that the broker closed while idle only within its own retries.
    if settings.identity is None:
        return ServiceBusClient.from_connection_string(
            settings.connection,
            retry_total=_RETRIES,
            retry_backoff_factor=_BACKOFF_SECONDS,
            retry_backoff_max=_BACKOFF_SECONDS_MAX,
        )
    # Loaded only where an identity is used: it brings cryptography along.
    from azure.identity.aio import DefaultAzureCredential

    return ServiceBusClient(
        settings.connection,
        DefaultAzureCredential(managed_identity_client_id=settings.identity.client_id),
        retry_total=_RETRIES,
        retry_backoff_factor=_BACKOFF_SECONDS,
        retry_backoff_max=_BACKOFF_SECONDS_MAX,
    )
