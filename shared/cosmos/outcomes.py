"""What the store's answers mean: the one boundary where the SDK's errors become outcomes.

Source: azure-cosmos 4.17.1, `exceptions` and `http_constants`; measured behaviour under faults: the async client's
transport reports a lost connection as "request not sent" although the service may have committed, so that no network
error says anything about the outcome.
"""

from typing import Final
from urllib.parse import urlsplit

from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from shared.idempotency.errors import StoreAccessError, StoreUnavailableError
from shared.idempotency.ports import (
    AccessDenied,
    CommitOutcome,
    Conflict,
    MarkerExists,
    OutcomeUnknown,
    PartitionFull,
    Refused,
    Throttled,
    TooLarge,
)

THROTTLED_SECONDS: Final = 0.1
"""Pause after a 429 that names none: one of a batch's operations carries no header."""

_WRITE_FORBIDDEN: Final = 3  # 403: the region takes no writes during a failover
_PARTITION_FULL: Final = 1014  # 403: the logical partition is at its size limit
_OWNER_MISSING: Final = 1003  # 404: database or container missing


def commit_outcome(error: AzureError | ValueError | TypeError) -> CommitOutcome:
    """Turn the error of a create or batch into the outcome of the commit.

    Args:
        error: what the SDK raised. `ValueError` and `TypeError` say that it could not send, such as on a closed
            client, or could not read the answer: neither is the message's fault.
    """
    match error:
        case CosmosBatchOperationError():
            return _by_status(
                int(error.status_code or 0), _sub_status(error), first=error.error_index == 0, after=_retry_after(error)
            )
        case CosmosHttpResponseError() if not _is_about_documents(error):
            # Of the account or the container, which the SDK reads beforehand: no message is at fault.
            status = int(error.status_code or 0)
            return AccessDenied(status) if status in {401, 403, 404} else OutcomeUnknown(f"status {status}")
        case CosmosHttpResponseError():
            return _by_status(int(error.status_code or 0), _sub_status(error), first=True, after=_retry_after(error))
        case ClientAuthenticationError():
            return AccessDenied(401)
        case AzureError() | ValueError() | TypeError():
            return OutcomeUnknown(type(error).__name__)


def _by_status(status: int, sub_status: int, *, first: bool, after: float) -> CommitOutcome:
    match status, sub_status:
        case 409, _ if first:
            return MarkerExists()
        case 404, code if code == _OWNER_MISSING:
            return AccessDenied(404)
        case 403, code if code == _PARTITION_FULL:
            return PartitionFull()
        case 403, code if code == _WRITE_FORBIDDEN:
            return Conflict(403)
        case 401 | 403, _:
            return AccessDenied(status)
        case 404 | 409 | 412 | 449, _:
            return Conflict(status)
        case 413, _:
            return TooLarge("a document or the batch is over the store's 2 MB")
        case 429, _:
            return Throttled(after)
        case 408 | 410 | 424, _:
            return OutcomeUnknown(f"status {status}")
        case code, _ if 400 <= code < 500:
            return Refused(code)
        case _:
            return OutcomeUnknown(f"status {status}")


def read_error(error: AzureError | ValueError | TypeError) -> StoreUnavailableError | StoreAccessError:
    """Turn the error of a read into the error that the engine knows. A missing document is not an error."""
    if isinstance(error, ClientAuthenticationError):
        return StoreAccessError("store access denied 401")
    if not isinstance(error, CosmosHttpResponseError):
        return StoreUnavailableError(f"read: {type(error).__name__}")
    status, sub_status = int(error.status_code or 0), _sub_status(error)
    is_missing_owner = status == 404 and (sub_status == _OWNER_MISSING or not _is_about_documents(error))
    if status in {401, 403} or is_missing_owner:
        return StoreAccessError(f"store access denied {status}")
    return StoreUnavailableError(
        f"read: status {status}", retry_after_seconds=_retry_after(error) if status == 429 else 0.0
    )


def is_missing(error: CosmosHttpResponseError) -> bool:
    """Whether a read's error says that the document does not exist, and not that something else is missing."""
    return error.status_code == 404 and _sub_status(error) == 0 and _is_about_documents(error)


def _is_about_documents(error: CosmosHttpResponseError) -> bool:
    """Whether the request that failed was one on documents.

    Source: REST API reference: documents lie under `/docs`; a container that is missing is itself a 404 without
    sub-status when the SDK reads it, and a 404 with 1003 only when its documents are asked for.
    """
    request = getattr(error.response, "request", None)
    return request is None or "/docs" in urlsplit(request.url).path


def _sub_status(error: CosmosHttpResponseError | CosmosBatchOperationError) -> int:
    if isinstance(error, CosmosHttpResponseError):
        return int(error.sub_status or 0)
    failed = (error.operation_responses or [])[error.error_index or 0 :][:1]
    return int(failed[0].get("subStatusCode") or 0) if failed else 0


def _retry_after(error: CosmosHttpResponseError | CosmosBatchOperationError) -> float:
    headers = error.headers or {}
    milliseconds = headers.get("x-ms-retry-after-ms")
    return THROTTLED_SECONDS if milliseconds is None else float(milliseconds) / 1000.0
