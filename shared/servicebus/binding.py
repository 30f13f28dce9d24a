"""Trigger binding: the raw AMQP message that the host hands over becomes the SDK's received message.

A function whose parameter is annotated with `SessionMessage` gets an `azure.servicebus.ServiceBusReceivedMessage`.
Registered on import, in the process-wide registry of `azurefunctions-extensions-base`, which holds one converter per
binding type: `azurefunctions-extensions-bindings-servicebus` cannot be installed beside it.

Source: Functions host 4.1037, Service Bus extension 5.x: model_binding_data version "1.0", source
"AzureServiceBusReceivedMessage", content_type "application/octet-stream"; content = 16 bytes lock token (a .NET
GUID: `bytes_le`), then the AMQP message with the header's delivery-count already raised by one.
"""

from typing import Any, Final, Protocol, cast

from azure.servicebus import ServiceBusReceivedMessage
from azurefunctions.extensions.base import Datum, InConverter, SdkType

_LOCK_TOKEN_BYTES: Final = 16
_SOURCE: Final = "AzureServiceBusReceivedMessage"


class SessionMessage(SdkType):  # type: ignore[misc]  # the base library has no types
    """Annotation of a trigger parameter; what arrives is the SDK's `ServiceBusReceivedMessage`."""


class ModelBindingData(Protocol):
    """What the host hands over for an SDK type."""

    version: str
    source: str
    content_type: str
    content: bytes


def read_binding_data(data: ModelBindingData) -> ServiceBusReceivedMessage:
    """Decode what the host handed over.

    Raises:
        ValueError: it is not what this was written for; names the field. The invocation fails, the message is
            delivered again and ends as a dead letter of the broker: nothing is lost.
    """
    if data.source != _SOURCE:
        raise ValueError(f"binding data: source is {data.source[:100]!r}, expected {_SOURCE!r}")
    if data.version != "1.0":
        raise ValueError(f"binding data: version is {data.version[:20]!r}, expected '1.0'")
    return ServiceBusReceivedMessage.from_bytes(data.content[_LOCK_TOKEN_BYTES:])


# The base library has no types.
class _SessionMessageConverter(  # type: ignore[call-arg]
    InConverter,  # type: ignore[misc]
    binding="serviceBus",
    trigger="serviceBusTrigger",
):
    @classmethod
    def check_input_type_annotation(cls, pytype: object) -> bool:
        return isinstance(pytype, type) and issubclass(pytype, SessionMessage)

    @classmethod
    def has_implicit_output(cls) -> bool:
        return False

    @classmethod
    def decode(cls, data: Datum, *, trigger_metadata: Any, pytype: Any) -> ServiceBusReceivedMessage:  # noqa: ANN401
        return read_binding_data(cast("ModelBindingData", data.value))
