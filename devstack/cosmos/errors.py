"""The errors that Cosmos DB answers with: status, sub-status, code and message.

Source: REST API reference, "HTTP status codes for Azure Cosmos DB"; the sub-statuses are those that the SDKs
act on (azure-cosmos 4.17.1, ``http_constants.SubStatusCodes``).
"""

from typing import Final

PARTITION_KEY_MISMATCH: Final = 1001
OWNER_NOT_FOUND: Final = 1003
COLLECTION_RID_MISMATCH: Final = 1024


class CosmosError(Exception):
    """An answer that is an error; every layer below the wire raises it, and the transaction rolls back.

    Attributes:
        status: HTTP status.
        code: the word in the body's ``code``.
        message: for people; it names the field and the rule, never a body or a key.
        sub_status: value of ``x-ms-substatus``; 0 where Cosmos DB has none.
    """

    def __init__(self, status: int, code: str, message: str, sub_status: int = 0) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.sub_status = sub_status


def bad_request(message: str, sub_status: int = 0) -> CosmosError:
    """400: the request breaks a rule; sending it again changes nothing."""
    return CosmosError(400, "BadRequest", message, sub_status)


def unauthorized(message: str) -> CosmosError:
    """401: no signature, or one that the account key did not make."""
    return CosmosError(401, "Unauthorized", message)


def item_not_found() -> CosmosError:
    """404/0: no such item in this partition."""
    return CosmosError(404, "NotFound", "Entity with the specified id does not exist in the system.")


def owner_not_found(what: str) -> CosmosError:
    """404/1003: the database or container does not exist."""
    return CosmosError(404, "NotFound", f"Owner resource does not exist: {what}.", OWNER_NOT_FOUND)


def method_not_allowed(message: str) -> CosmosError:
    """405: the resource exists, and does not take this verb."""
    return CosmosError(405, "MethodNotAllowed", message)


def conflict() -> CosmosError:
    """409: the id is taken in this partition."""
    return CosmosError(409, "Conflict", "Entity with the specified id already exists in the system.")


def precondition_failed() -> CosmosError:
    """412: the ETag is stale, or the condition of a patch is not true."""
    return CosmosError(
        412,
        "PreconditionFailed",
        "Operation cannot be performed because one of the preconditions is not met.",
    )


def too_large(message: str) -> CosmosError:
    """413: the item or the request is larger than 2 MB."""
    return CosmosError(413, "RequestEntityTooLarge", message)


def failed_dependency() -> CosmosError:
    """424: another operation of the same batch failed, and this one was rolled back or never tried."""
    return CosmosError(424, "FailedDependency", "Another operation of the same batch failed.")


def internal_error() -> CosmosError:
    """500: a defect of the emulator; whether the request took effect is unknown to the client."""
    return CosmosError(500, "InternalServerError", "The local emulator failed; its log has the cause.")
