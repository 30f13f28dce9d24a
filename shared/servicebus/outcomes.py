"""What the broker's errors mean: the one boundary where the SDK's errors become ours.

Source: azure-servicebus 7.15.0, `exceptions`.
"""

from azure.core.exceptions import AzureError
from azure.servicebus.exceptions import MessageSizeExceededError

from shared.idempotency.errors import BrokerUnavailableError, DeadLetterReason, PermanentError


def send_error(error: AzureError | OSError) -> PermanentError | BrokerUnavailableError:
    """Turn the error of a send into ours. Only a size is the message's own fault."""
    if isinstance(error, MessageSizeExceededError):
        return PermanentError(DeadLetterReason.PAYLOAD_TOO_LARGE, "message: larger than the queue takes")
    return broker_error(error)


def broker_error(error: AzureError | OSError) -> BrokerUnavailableError:
    """Turn any other error of the broker into ours."""
    return BrokerUnavailableError(f"broker: {type(error).__name__}")
