"""What the broker's errors mean: the one boundary where the SDK's errors become ours.

Source: azure-servicebus 7.15.0, `exceptions`.
"""

from typing import Final

from azure.core.exceptions import AzureError
from azure.servicebus.exceptions import MessageSizeExceededError

from shared.idempotency.errors import BrokerUnavailableError, DeadLetterReason, PermanentError

type SdkError = AzureError | OSError | ValueError | TypeError
"""What the SDK raises. `OSError` includes `TimeoutError`; `ValueError` and `TypeError` say that a handler was closed
meanwhile, or that an answer could not be read."""

SDK_ERRORS: Final = (AzureError, OSError, ValueError, TypeError)


def send_error(error: SdkError) -> PermanentError | BrokerUnavailableError:
    """Turn the error of a send into ours. Only a size is the message's own fault."""
    if isinstance(error, MessageSizeExceededError):
        return PermanentError(DeadLetterReason.PAYLOAD_TOO_LARGE, "message: larger than the queue takes")
    return broker_error(error)


def broker_error(error: SdkError) -> BrokerUnavailableError:
    """Turn any other error of the broker into ours."""
    return BrokerUnavailableError(f"broker: {type(error).__name__}")
