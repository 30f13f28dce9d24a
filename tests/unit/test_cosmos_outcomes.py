"""The boundary to the Cosmos SDK: every status and every exception class has its outcome."""

import inspect
from types import ModuleType

import pytest
from azure.core import exceptions as core_exceptions
from azure.core.exceptions import AzureError, ClientAuthenticationError
from azure.cosmos import exceptions as cosmos_exceptions
from azure.cosmos.exceptions import CosmosBatchOperationError, CosmosHttpResponseError

from shared.cosmos.outcomes import commit_outcome, is_missing, read_error
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

TOO_LARGE = TooLarge("a document or the batch is over the store's 2 MB")

TABLE: list[tuple[int, int, CommitOutcome, CommitOutcome]] = [
    # status, sub-status, outcome of the first write, outcome of a later one
    (400, 0, Refused(400), Refused(400)),
    (400, 1001, Refused(400), Refused(400)),
    (401, 0, AccessDenied(401), AccessDenied(401)),
    (403, 0, AccessDenied(403), AccessDenied(403)),
    (403, 3, Conflict(403), Conflict(403)),
    (403, 1014, PartitionFull(), PartitionFull()),
    (404, 0, Conflict(404), Conflict(404)),
    (404, 1002, Conflict(404), Conflict(404)),
    (404, 1003, AccessDenied(404), AccessDenied(404)),
    (405, 0, Refused(405), Refused(405)),
    (408, 0, OutcomeUnknown("status 408"), OutcomeUnknown("status 408")),
    (409, 0, MarkerExists(), Conflict(409)),
    (410, 0, OutcomeUnknown("status 410"), OutcomeUnknown("status 410")),
    (412, 0, Conflict(412), Conflict(412)),
    (413, 0, TOO_LARGE, TOO_LARGE),
    (424, 0, OutcomeUnknown("status 424"), OutcomeUnknown("status 424")),
    (429, 0, Throttled(0.1), Throttled(0.1)),
    (449, 0, Conflict(449), Conflict(449)),
    (500, 0, OutcomeUnknown("status 500"), OutcomeUnknown("status 500")),
    (503, 0, OutcomeUnknown("status 503"), OutcomeUnknown("status 503")),
    (0, 0, OutcomeUnknown("status 0"), OutcomeUnknown("status 0")),
]


def single(status: int, sub_status: int = 0) -> CosmosHttpResponseError:
    return CosmosHttpResponseError(status_code=status, message="m", sub_status=sub_status)


def batch(status: int, sub_status: int = 0, *, index: int, headers: dict[str, str] | None = None) -> AzureError:
    responses = [{"statusCode": 424}, {"statusCode": 424}, {"statusCode": 424}]
    responses[index] = {"statusCode": status, "subStatusCode": sub_status}
    return CosmosBatchOperationError(
        error_index=index, headers=headers or {}, status_code=status, message="m", operation_responses=responses
    )


@pytest.mark.parametrize(("status", "sub_status", "first", "later"), TABLE)
def test_every_status(status: int, sub_status: int, first: CommitOutcome, later: CommitOutcome) -> None:
    assert commit_outcome(single(status, sub_status)) == first
    assert commit_outcome(batch(status, sub_status, index=0)) == first
    assert commit_outcome(batch(status, sub_status, index=1)) == later
    assert commit_outcome(batch(status, sub_status, index=2)) == later


def test_a_pause_that_the_service_asks_for() -> None:
    throttled = batch(429, index=1, headers={"x-ms-retry-after-ms": "1500"})
    assert commit_outcome(throttled) == Throttled(1.5)
    whole = single(429)
    whole.headers = {"x-ms-retry-after-ms": "250"}
    assert commit_outcome(whole) == Throttled(0.25)
    assert read_error(whole).retry_after_seconds == 0.25
    assert read_error(single(503)).retry_after_seconds == 0


def classes(module: ModuleType) -> list[type[AzureError]]:
    found = [item for _, item in inspect.getmembers(module, inspect.isclass) if issubclass(item, AzureError)]
    # Those with a status of their own are in the table.
    return [item for item in found if not issubclass(item, CosmosHttpResponseError | CosmosBatchOperationError)]


@pytest.mark.parametrize("kind", sorted({*classes(core_exceptions), *classes(cosmos_exceptions)}, key=str))
def test_an_error_without_a_status_tells_nothing_about_the_commit(kind: type[AzureError]) -> None:
    error = kind.__new__(kind)
    expected = AccessDenied(401) if issubclass(kind, ClientAuthenticationError) else OutcomeUnknown(kind.__name__)
    assert commit_outcome(error) == expected
    wanted = StoreAccessError if issubclass(kind, ClientAuthenticationError) else StoreUnavailableError
    assert type(read_error(error)) is wanted


@pytest.mark.parametrize("error", [ValueError("id"), TypeError("id")])
def test_what_the_sdk_refuses_itself(error: ValueError | TypeError) -> None:
    # Not the message's fault: a closed client, say. Another delivery may meet a sound one.
    assert commit_outcome(error) == OutcomeUnknown(type(error).__name__)


@pytest.mark.parametrize(
    ("status", "sub_status", "kind", "words"),
    [
        (401, 0, StoreAccessError, "store access denied 401"),
        (403, 0, StoreAccessError, "store access denied 403"),
        (404, 1003, StoreAccessError, "store access denied 404"),
        (404, 1002, StoreUnavailableError, "read: status 404"),
        (408, 0, StoreUnavailableError, "read: status 408"),
        (429, 0, StoreUnavailableError, "read: status 429"),
        (503, 0, StoreUnavailableError, "read: status 503"),
    ],
)
def test_a_read_that_fails(status: int, sub_status: int, kind: type[Exception], words: str) -> None:
    found = read_error(single(status, sub_status))
    assert (type(found), str(found)) == (kind, words)


@pytest.mark.parametrize(
    ("status", "sub_status", "missing"), [(404, 0, True), (404, 1002, False), (404, 1003, False), (400, 0, False)]
)
def test_a_document_that_is_not_there(status: int, sub_status: int, missing: bool) -> None:
    assert is_missing(single(status, sub_status)) == missing
