"""Orders over HTTP: what is accepted, what is refused and how, and what can be read back."""

import json
import re
import urllib.parse
from concurrent.futures import ThreadPoolExecutor

import pytest

from samples.request_hash import message_id, request_hash
from tests.e2e.orders import changed, message, order
from tests.e2e.outside import Answer, Outside

JSON = {"content-type": "application/json"}


def post(outside: Outside, placed: object) -> Answer:
    return outside.request("POST", "/api/orders", json.dumps(placed).encode(), headers=JSON)


def test_an_order_is_accepted_placed_and_read_back(outside: Outside) -> None:
    placed = order("web-1")
    answer = post(outside, placed)
    assert (answer.status, answer.headers["content-type"]) == (202, "application/json")
    assert answer.json == {
        "orderId": "web-1", "operationId": "web-1", "requestHash": request_hash(placed),
        "messageId": message_id(placed),
    }  # fmt: skip
    location = answer.headers["location"]
    assert location == "/api/orders/web-1/operations/web-1"
    outside.settled(message_id(placed))
    operation = outside.request("GET", location)
    assert operation.status == 200
    applied_at = operation.json["appliedAt"]
    assert operation.json == {
        "orderId": "web-1", "operationId": "web-1", "state": "applied", "requestHash": request_hash(placed),
        "appliedAt": applied_at,
    }  # fmt: skip
    read = outside.request("GET", "/api/orders/web-1")
    assert (read.status, read.headers["content-type"]) == (200, "application/json")
    assert read.json == {
        "orderId": "web-1", "state": "placed", "customerId": "c-204", "currency": "GBP", "total": "26.2",
        "lines": [
            {"sku": "MUG-01", "description": "Enamel mug, blue", "quantity": 2, "unitPrice": "7.5"},
            {"sku": "TEA-11", "quantity": 1, "unitPrice": "11.2"},
        ],
        "placedAt": "2026-03-02T09:30:00Z", "transactionCount": 0, "transactionTotal": "0",
        "closed": False, "lastSequence": 1, "createdAt": applied_at, "updatedAt": applied_at,
    }  # fmt: skip


def test_the_trace_of_the_request_goes_with_the_event(outside: Outside) -> None:
    traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    placed = order("traced")
    outside.request("POST", "/api/orders", json.dumps(placed).encode(), headers={"traceparent": traceparent})
    outside.settled(message_id(placed))
    # A host gives the request a span of its own within the caller's trace.
    assert outside.partition("traced")["out:1"]["traceparent"].split("-")[1] == traceparent.split("-")[1]


def test_the_same_request_eight_times_at_once_places_one_order(outside: Outside) -> None:
    placed = order("web-2")
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda body: post(outside, body), [placed] * 8))
    assert [answer.status for answer in answers] == [202] * 8
    assert len({answer.body for answer in answers}) == 1
    outside.settled(message_id(placed))
    assert sorted(outside.partition("web-2")) == ["out:1", "web-2"]
    assert outside.left_in_queue(["web-2"]) == 0


def test_another_order_under_a_used_id_is_accepted_and_dead_lettered(outside: Outside) -> None:
    placed = order("web-3")
    assert [post(outside, body).status for body in (placed, changed(placed))] == [202, 202]
    (first,) = outside.settled(message_id(placed))
    (second,) = outside.settled(message_id(changed(placed)))
    assert (first.fields["outcome"], second.fields["outcome"]) == ("applied", "RequestHashMismatch")
    assert outside.request("GET", "/api/orders/web-3").json["currency"] == "GBP"


def test_a_hundred_at_once_are_each_placed_once(outside: Outside) -> None:
    placed = [order(f"crowd-{number}") for number in range(100)]
    with ThreadPoolExecutor(32) as pool:
        answers = list(pool.map(lambda body: post(outside, body), placed))
    assert [answer.status for answer in answers] == [202] * 100
    entries = outside.settled(*(message_id(body) for body in placed))
    assert {entry.fields["outcome"] for entry in entries} == {"applied"}
    assert len(entries) == 100
    for body in placed:
        order_id = str(body["orderId"])
        assert sorted(outside.partition(order_id)) == sorted([order_id, "out:1"])


@pytest.mark.parametrize(
    ("body", "reason", "rule"),
    [
        ({"orderId": "a"}, "InvalidMessage", "^type: is missing$"),
        ({**order("a"), "currency": "gbp"}, "InvalidMessage", r"regex '\^\[A-Z\]\{3\}\$' - at `\$.currency`$"),
        ({**order("a"), "lines": []}, "InvalidMessage", r"length >= 1 - at `\$.lines`$"),
        ({**order("a"), "discount": 1}, "InvalidMessage", "unknown field `discount`$"),
        ({**order("a"), "sequence": 2}, "InvalidMessage", "^sequence: must be 1, because "),
        ({**order("a"), "operationId": "b"}, "InvalidMessage", "^operationId: must equal orderId, because "),
        ({**order("a"), "orderId": "a/b"}, "InvalidIdentifier", r"1 to 100 characters .* - at `\$.orderId`$"),
        ({**order("a"), "schemaVersion": 2}, "UnknownSchemaVersion", "^schemaVersion: 2 is newer than 1; "),
        ([], "InvalidMessage", "^body: must be a JSON object$"),
    ],
)
def test_a_fault_is_named(outside: Outside, body: object, reason: str, rule: str) -> None:
    answer = post(outside, body)
    assert (answer.status, answer.headers["content-type"]) == (400, "application/problem+json")
    problem = answer.json
    assert (problem["title"], problem["status"], problem["reason"]) == ("Bad Request", 400, reason)
    assert re.search(rule, problem["detail"]), problem
    assert set(problem) == {"title", "status", "detail", "reason"}


def test_half_a_body_is_told_where_it_breaks(outside: Outside) -> None:
    answer = outside.request("POST", "/api/orders", b'{"orderId": ')
    assert (answer.status, answer.json["reason"]) == (400, "MalformedMessage")
    assert "at line 1, column 13" in answer.json["detail"]


@pytest.mark.parametrize("body", [b"", [json.dumps(order("chunked")).encode()]], ids=["empty", "chunked"])
def test_a_body_that_does_not_arrive_is_told_why(outside: Outside, body: bytes | list[bytes]) -> None:
    answer = outside.request("POST", "/api/orders", body)
    assert answer.status == 400
    assert answer.json["detail"] == (
        "body: is empty. The Functions host drops chunked bodies: send Content-Length, not Transfer-Encoding"
    )


def test_a_large_body_is_refused(outside: Outside) -> None:
    answer = post(outside, {**order("large"), "customerId": "x" * 131_072})
    assert (answer.status, answer.json["title"], answer.json["reason"]) == (
        413,
        "Content Too Large",
        "PayloadTooLarge",
    )
    assert "the limit is 131072 bytes" in answer.json["detail"]


@pytest.mark.parametrize("path", ["/api/orders/nowhere", "/api/orders/nowhere/operations/nowhere"])
def test_what_is_not_there_is_404(outside: Outside, path: str) -> None:
    answer = outside.request("GET", path)
    assert (answer.status, answer.headers["content-type"]) == (404, "application/problem+json")
    assert "nowhere" in answer.json["detail"]


@pytest.mark.parametrize("bad", ["-a", "a b", "a$", "x" * 101, "é"])
@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/api/orders/{}", "orderId"),
        ("/api/orders/{}/operations/x", "orderId"),
        ("/api/orders/x/operations/{}", "operationId"),
    ],
)
def test_an_illegal_id_is_refused_by_name(outside: Outside, path: str, field: str, bad: str) -> None:
    answer = outside.request("GET", path.format(urllib.parse.quote(bad)))
    assert (answer.status, answer.json["reason"]) == (400, "InvalidIdentifier")
    assert answer.json["detail"].startswith(f"{field}: must be 1 to 100 characters")


def test_what_is_dead_lettered_is_not_applied(outside: Outside) -> None:
    sent = message(order("lost"), body="{")
    outside.send(sent)
    outside.settled(str(sent.message_id))
    assert outside.request("GET", "/api/orders/lost").status == 404


def test_only_live_needs_no_key(outside: Outside) -> None:
    paths = ["/api/health/live", "/api/health/ready", "/api/orders/web-1", "/api/orders/web-1/operations/web-1"]
    answers = [outside.request("GET", path, keyed=False) for path in paths]
    assert [answer.status for answer in answers] == [200, 401, 401, 401]
    assert answers[0].json == {"status": "alive"}
    for key in ({}, {"x-functions-key": "another"}):
        assert outside.request("POST", "/api/orders", b"{}", keyed=False, headers=key).status == 401


def test_ready_names_both_parts(outside: Outside) -> None:
    answer = outside.request("GET", "/api/health/ready")
    assert (answer.status, answer.json) == (200, {"status": "ready", "checks": {"broker": "ok", "store": "ok"}})
