"""From the core's answers and errors to the Functions library's responses."""

import logging
from collections.abc import Awaitable

import azure.functions as func

from shared.http.problem import Answer, problem
from shared.idempotency.errors import ConfigurationError, DeadLetterReason, PermanentError, TransientError

_log = logging.getLogger(__name__)


def read_body(req: func.HttpRequest) -> bytes:
    """The body of a request.

    Raises:
        PermanentError: it is empty.
    """
    body = req.get_body()
    if not body:
        raise PermanentError(
            DeadLetterReason.MALFORMED_MESSAGE,
            "body: is empty. The Functions host drops chunked bodies: send Content-Length, not Transfer-Encoding",
        )
    return body


async def respond(answering: Awaitable[Answer]) -> func.HttpResponse:
    """Await an answer, and turn the core's errors into problem details; what else is raised is the host's 500."""
    try:
        answer = await answering
    except PermanentError as error:
        status = 413 if error.reason is DeadLetterReason.PAYLOAD_TOO_LARGE else 400
        answer = problem(status, error.description, reason=error.reason)
    except TransientError as error:
        _log.warning("answer=503 cause=%s", error)
        answer = problem(
            503, "The service cannot reach a part of itself. Send the same request again.", retry_after_seconds=2
        )
    except ConfigurationError as error:
        _log.error("answer=503 cause=%s", error)
        answer = problem(503, "The service is not set up. Its log names the setting.", retry_after_seconds=60)
    return func.HttpResponse(
        answer.body, status_code=answer.status, mimetype=answer.media_type, headers=dict(answer.headers)
    )
