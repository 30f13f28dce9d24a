"""HTTP answers: JSON and problem details, and which error becomes which."""

import json
import logging

import pytest

from blueprints.http_answers import respond
from shared.http.problem import Answer, json_answer, problem
from shared.idempotency.errors import (
    BrokerUnavailableError,
    ConfigurationError,
    DeadLetterReason,
    NewerVersionError,
    PermanentError,
    StoreAccessError,
    StoreUnavailableError,
)
from shared.idempotency.messages import Identifier


def test_a_json_answer() -> None:
    answer = json_answer(202, {"orderId": Identifier("é1")}, headers={"Location": "/x"})
    assert answer == Answer(
        status=202, body='{"orderId":"é1"}'.encode(), media_type="application/json", headers={"Location": "/x"}
    )


def test_a_problem_follows_the_standard() -> None:
    answer = problem(503, "later", retry_after_seconds=2)
    assert (answer.media_type, answer.headers) == ("application/problem+json", {"Retry-After": "2"})
    # RFC 9457: without `type`, `title` is the status phrase.
    assert json.loads(answer.body) == {"title": "Service Unavailable", "status": 503, "detail": "later"}
    assert json.loads(problem(400, "x", reason="InvalidMessage").body)["reason"] == "InvalidMessage"


async def failing(error: Exception) -> Answer:
    raise error


@pytest.mark.parametrize(
    ("error", "status", "retry_after", "level"),
    [
        (PermanentError(DeadLetterReason.INVALID_MESSAGE, "a: rule"), 400, None, None),
        (PermanentError(DeadLetterReason.PAYLOAD_TOO_LARGE, "body: rule"), 413, None, None),
        (BrokerUnavailableError("broker: X"), 503, "2", logging.WARNING),
        (StoreUnavailableError("read: X"), 503, "2", logging.WARNING),
        (StoreAccessError("store access denied 403"), 503, "2", logging.WARNING),
        (NewerVersionError("newer"), 503, "2", logging.WARNING),
        (ConfigurationError("settings: X"), 503, "60", logging.ERROR),
    ],
)
async def test_an_error_becomes_a_problem(
    caplog: pytest.LogCaptureFixture, error: Exception, status: int, retry_after: str | None, level: int | None
) -> None:
    response = await respond(failing(error))
    assert (response.status_code, response.mimetype) == (status, "application/problem+json")
    assert response.headers.get("Retry-After") == retry_after
    assert [record.levelno for record in caplog.records] == ([] if level is None else [level])
    detail = json.loads(response.get_body())["detail"]
    # What a caller did is told; what the app's own state is stands in the log.
    assert (str(error) in detail or "rule" in detail) == (status != 503)


async def test_what_nobody_foresaw_is_the_hosts() -> None:
    with pytest.raises(ZeroDivisionError):
        await respond(failing(ZeroDivisionError()))


async def test_an_answer_passes() -> None:
    async def answering() -> Answer:
        return json_answer(200, {"a": 1}, headers={"X": "y"})

    response = await respond(answering())
    assert (response.status_code, response.get_body(), response.mimetype) == (200, b'{"a":1}', "application/json")
    assert response.headers["X"] == "y"
