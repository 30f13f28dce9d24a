"""The boundary to the Service Bus SDK: every exception class has its outcome; only a size is the message's fault."""

import inspect
from types import ModuleType

import pytest
from azure.core import exceptions as core_exceptions
from azure.core.exceptions import AzureError
from azure.servicebus import exceptions as bus_exceptions
from azure.servicebus.exceptions import MessageSizeExceededError, ServiceBusError

from shared.idempotency.errors import BrokerUnavailableError, DeadLetterReason, PermanentError
from shared.servicebus.outcomes import SDK_ERRORS, SdkError, broker_error, send_error


def classes(module: ModuleType) -> set[type[AzureError]]:
    return {item for _, item in inspect.getmembers(module, inspect.isclass) if issubclass(item, AzureError)}


BUS_ERRORS = classes(bus_exceptions)
SIZE_ERRORS = {kind for kind in BUS_ERRORS if issubclass(kind, MessageSizeExceededError)}
OTHERS: set[type[SdkError]] = {
    *(BUS_ERRORS - SIZE_ERRORS),
    *classes(core_exceptions),
    OSError,
    ConnectionResetError,
    TimeoutError,
    # A handler that was closed meanwhile, an answer that cannot be read.
    ValueError,
    TypeError,
}


def test_what_the_sender_catches_is_what_has_an_outcome() -> None:
    assert set(SDK_ERRORS) == set(SdkError.__value__.__args__)


def test_the_sdks_classes_are_found() -> None:
    assert {MessageSizeExceededError} == SIZE_ERRORS
    assert ServiceBusError in BUS_ERRORS
    assert len(BUS_ERRORS) > 15


@pytest.mark.parametrize("kind", sorted(OTHERS, key=str))
def test_no_confirmation_is_no_fault_of_the_message(kind: type[SdkError]) -> None:
    error = kind.__new__(kind)
    for found in (send_error(error), broker_error(error)):
        # The name alone: the SDK's texts may hold addresses and keys.
        assert (type(found), str(found)) == (BrokerUnavailableError, f"broker: {kind.__name__}")


def test_a_message_that_is_too_large_is_its_own_fault() -> None:
    found = send_error(MessageSizeExceededError(message="larger than 262144"))
    assert isinstance(found, PermanentError)
    assert (found.reason, found.description) == (
        DeadLetterReason.PAYLOAD_TOO_LARGE,
        "message: larger than the queue takes",
    )
    assert type(broker_error(MessageSizeExceededError(message="larger"))) is BrokerUnavailableError
