"""Orders over Service Bus: what comes, what is stored, what is dead-lettered and what the log says."""

import hashlib
import json
import re
import uuid
from datetime import UTC, datetime
from typing import Any

import rfc8785
from azure.servicebus import ServiceBusMessage
from azure.servicebus.amqp import AmqpAnnotatedMessage

from samples.request_hash import message_id, request_hash
from tests.e2e.clean_stack import SECRET, leaks
from tests.e2e.orders import changed, message, order
from tests.e2e.outside import Outside
from tests.running_stack import until

TIME = re.compile(r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z")


def test_one_order_leaves_exactly_one_document_and_one_event(outside: Outside) -> None:
    placed = order("one", endOfSequence=True)
    sent = message(
        placed, application_properties={"traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}
    )
    outside.send(sent)
    assert outside.outcome(sent) == "complete applied"
    stored = outside.partition("one")
    assert sorted(stored) == ["one", "out:1"]
    document, outbox = stored["one"], stored["out:1"]
    attempt_id, created = document.pop("attemptId"), document["createdAt"]
    assert re.fullmatch("[0-9a-f]{32}", attempt_id)
    assert TIME.fullmatch(created)
    lines = [
        {"sku": "MUG-01", "description": "Enamel mug, blue", "quantity": 2, "unitPrice": "7.5"},
        {"sku": "TEA-11", "quantity": 1, "unitPrice": "11.2"},
    ]
    business = {
        "orderId": "one", "customerId": "c-204", "currency": "GBP", "lines": lines, "total": "26.2",
        "placedAt": "2026-03-02T09:30:00Z",
    }  # fmt: skip
    assert document == {
        **business, "id": "one", "type": "Order", "docVersion": 1, "state": "placed", "closed": True, "lastSequence": 1,
        "parked": {}, "transactionCount": 0, "transactionTotal": "0", "eventSequence": 1, "outboxSequence": 1,
        "requestHash": request_hash(placed),
        "createdAt": created, "updatedAt": created,
    }  # fmt: skip
    event = outbox["message"]["body"]
    assert outbox == {
        "id": "out:1", "orderId": "one", "type": "outbox", "docVersion": 1, "destination": "order-events",
        "status": "ready", "readySince": created,
        "traceparent": "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "message": {
            "messageId": f"one:1~{hashlib.sha256(rfc8785.dumps(event)).hexdigest()[:16]}",
            "sessionId": "one", "subject": "OrderAccepted", "contentType": "application/cloudevents+json",
            "body": {
                "specversion": "1.0", "id": "one:1", "source": "/orders/1", "type": "OrderAccepted",
                "subject": "one", "time": created, "sequence": "0000000001", "partitionkey": "one",
                "datacontenttype": "application/json", "data": business,
            },
        },
    }  # fmt: skip


def test_the_request_hash_is_that_of_the_canonical_text(outside: Outside) -> None:
    sent = message(order("canonical"))
    outside.send(sent)
    assert outside.outcome(sent) == "complete applied"
    # RFC 8785 by hand: sorted names, no spaces, 7.50 as 7.5, 10:30 at +01:00 as 09:30 UTC, no schemaVersion.
    text = (
        '{"currency":"GBP","customerId":"c-204","lines":['
        '{"description":"Enamel mug, blue","quantity":2,"sku":"MUG-01","unitPrice":"7.5"},'
        '{"quantity":1,"sku":"TEA-11","unitPrice":"11.2"}],"occurredAt":"2026-03-02T09:30:00Z",'
        '"operationId":"canonical","orderId":"canonical","sequence":1,"type":"OrderPlaced"}'
    )
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert outside.partition("canonical")["canonical"]["requestHash"] == f"v1:{digest}"
    assert sent.message_id == f"canonical~{digest[:16]}"


def test_a_copy_is_completed_as_a_duplicate_and_a_resend_is_dropped(outside: Outside) -> None:
    placed = order("twice")
    first, copy, behind = message(placed), message(placed, "copy1"), message(placed, "copy2")
    outside.send(first)
    assert outside.outcome(first) == "complete applied"
    before = outside.partition("twice")
    outside.send(message(placed), copy)
    assert outside.outcome(copy) == "complete duplicate"
    outside.send(message(placed), behind)
    assert outside.outcome(behind) == "complete duplicate"
    assert outside.partition("twice") == before
    assert len(outside.dispositions(str(first.message_id))) == 1
    assert outside.left_in_queue(["twice"]) == 0


def test_a_changed_order_is_dead_lettered_and_changes_nothing(outside: Outside) -> None:
    placed = order("changed")
    first, second, third = message(placed), message(changed(placed)), message(placed, "copy1")
    outside.send(first, second, third)
    assert [outside.outcome(sent) for sent in (first, second, third)] == [
        "complete applied",
        "dead-letter RequestHashMismatch",
        "complete duplicate",
    ]
    assert outside.partition("changed")["changed"]["currency"] == "GBP"
    letter = outside.dead_letters()[message_id(changed(placed))]
    assert (letter.reason, letter.description) == (
        "RequestHashMismatch",
        "the key was taken by a message with other content",
    )
    assert json.loads(letter.body) == changed(placed)


def _bad(number: int, **overrides: Any) -> ServiceBusMessage:  # noqa: ANN401 - fields of orders and messages
    """A message with one thing wrong: fields of the order, or arguments of the message in lower-case names."""
    of_message = {name: value for name, value in overrides.items() if name in {"body", "message_id", "session_id"}}
    fields = {name: value for name, value in overrides.items() if name not in of_message}
    placed = order(f"bad-{number}", customerId=SECRET) | fields
    return message(placed, **of_message)


BAD = {
    "half an object": (_bad(1, body=f'{{"customerId": "{SECRET}", '), "MalformedMessage", r"^body: .* at line 1"),
    "no UTF-8": (_bad(2, body=b"\xff" + SECRET.encode()), "MalformedMessage", "^body: not UTF-8 at byte 0$"),
    "nothing": (_bad(3, body=b""), "MalformedMessage", "^body: "),
    "a list": (_bad(4, body=f'["{SECRET}"]'), "InvalidMessage", "^body: must be a JSON object$"),
    "a duplicate key": (_bad(5, body=f'{{"a": "{SECRET}", "a": 1}}'), "MalformedMessage", "^body: duplicate key 'a'$"),
    "deep": (_bad(6, body="[" * 100_000), "MalformedMessage", "^body: nested deeper than 32 levels$"),
    "large": (
        _bad(7, body=f'"{SECRET * 11_000}"'),
        "PayloadTooLarge",
        "^body: 132002 bytes, the limit is 131072 bytes$",
    ),
    "a newer version": (_bad(8, schemaVersion=2), "UnknownSchemaVersion", "^schemaVersion: 2 is newer than 1"),
    "an unknown type": (_bad(9, type="OrderLost"), "InvalidMessage", "type"),
    "an unknown field": (_bad(10, discount="5"), "InvalidMessage", "unknown field `discount`"),
    "a missing field": (_bad(11, currency=None), "InvalidMessage", "missing required field `currency`"),
    "a number for money": (
        _bad(12, lines=[{"sku": "a", "quantity": 1, "unitPrice": 7.5}], message_id="bad-12"),
        "InvalidMessage",
        r"must be a decimal string .* - at `\$\.lines\[0\]\.unitPrice`$",
    ),
    "a quantity of nothing": (
        _bad(13, lines=[{"sku": "a", "quantity": 0, "unitPrice": "1"}]),
        "InvalidMessage",
        r"^quantity: must not be 0 - at `\$\.lines\[0\]`$",
    ),
    "a time without offset": (
        _bad(14, occurredAt="2026-03-02T10:30:00", message_id="bad-14"),
        "InvalidMessage",
        "occurredAt",
    ),
    "an illegal id": (_bad(15, customerId=f"{SECRET}/1"), "InvalidIdentifier", r"1 to 100 characters .*customerId"),
    "another session": (
        _bad(16, session_id="bad-x"),
        "SessionIdMismatch",
        "^SessionId: must be the body's partition key",
    ),
    "another key": (_bad(17, message_id="other~0123456789abcdef"), "MessageIdMismatch", "before the first ~"),
    "another hash": (_bad(18, message_id="bad-18~0123456789abcdef"), "MessageIdMismatch", "the body's request hash"),
    "a second place": (_bad(19, sequence=2), "InvalidMessage", "^sequence: must be 1"),
}


def test_what_breaks_a_rule_is_dead_lettered_with_the_rule(outside: Outside) -> None:
    good = message(order("good"))
    for sent, _, _ in BAD.values():
        outside.send(sent)
    outside.send(good)
    assert outside.outcome(good) == "complete applied"
    outcomes = {name: outside.outcome(sent) for name, (sent, _, _) in BAD.items()}
    assert outcomes == {name: f"dead-letter {reason}" for name, (_, reason, _) in BAD.items()}
    letters = outside.dead_letters()
    for name, (sent, reason, rule) in BAD.items():
        letter = letters[str(sent.message_id)]
        assert letter.reason == reason, name
        assert re.search(rule, letter.description), (name, letter.description)
        assert letter.body == b"".join(sent.body), name
        assert not outside.partition(str(sent.session_id)), name


def test_poison_lets_its_own_session_go_on(outside: Outside) -> None:
    poison, good = message(order("mixed"), body=SECRET, message_id="mixed~poison"), message(order("mixed"))
    outside.send(poison, good)
    assert outside.outcome(poison) == "dead-letter MalformedMessage"
    assert outside.outcome(good) == "complete applied"


def test_a_message_that_must_wait_holds_up_its_own_session_alone(outside: Outside) -> None:
    # A hash of newer code: neither judged nor written over until that code, here the deletion, has dealt with it.
    outside.container.create_item({"id": "newer", "orderId": "newer", "requestHash": "v2:0", "attemptId": "0"})
    waiting, behind, other = message(order("newer")), message(order("newer"), "copy1"), message(order("other"))
    outside.send(waiting, behind)
    until(lambda: bool(outside.dispositions(str(waiting.message_id))), "the first delivery")
    outside.send(other)
    assert outside.outcome(other) == "complete applied"
    assert {entry.fields["disposition"] for entry in outside.dispositions(str(waiting.message_id))} == {"retry"}
    assert outside.dispositions(str(behind.message_id)) == []
    outside.container.delete_item("newer", partition_key="newer")
    assert outside.outcome(waiting) == "complete applied"
    assert outside.outcome(behind) == "complete duplicate"
    assert sorted(outside.partition("newer")) == ["newer", "out:1"]


def test_another_kind_of_amqp_body_is_dead_lettered(outside: Outside) -> None:
    for kind, body in (("value_body", {"orderId": SECRET}), ("sequence_body", [[SECRET]])):
        message_id = f"odd-{kind}"
        arguments: dict[str, Any] = {kind: body, "properties": {"message_id": message_id, "group_id": message_id}}
        sent = AmqpAnnotatedMessage(**arguments)
        outside.sender.send_messages(sent)
        (entry,) = outside.settled(message_id)
        assert (entry.fields["disposition"], entry.fields["outcome"]) == ("dead-letter", "MalformedMessage")


def test_fields_of_the_body_never_shadow_the_brokers(outside: Outside) -> None:
    placed = order("shadow")
    shadows = {"messageId": "x", "sessionId": "x", "DeliveryCount": "x", "ExpiresAtUtc": "12/18/2020 20:57:23"}
    sent = message(placed, "copy1", body=json.dumps({**placed, **shadows}))
    outside.send(sent)
    assert outside.outcome(sent) == "dead-letter InvalidMessage"
    (entry,) = outside.dispositions(str(sent.message_id))
    assert (entry.fields["message_id"], entry.fields["delivery_count"]) == (sent.message_id, "1")


def test_properties_of_every_type_are_no_business_of_the_app(outside: Outside) -> None:
    properties = {
        "schemaVersion": b"1",
        b"traceparent": 7,
        "DeliveryCount": "many",
        "sentAt": datetime(2026, 3, 2, 9, 30, tzinfo=UTC),
        "retryCount": 3,
        "weight": 0.5,
        "gift": True,
        "nothing": None,
        "id": uuid.UUID(int=7),
    }
    sent = message(order("typed"), application_properties=properties)
    outside.send(sent)
    assert outside.outcome(sent) == "complete applied"
    assert outside.partition("typed")["out:1"]["traceparent"] is None


def test_a_bare_key_as_message_id_is_accepted(outside: Outside) -> None:
    sent = message(order("bare"), message_id="bare")
    outside.send(sent)
    assert outside.outcome(sent) == "complete applied"


def test_eight_copies_place_an_order_once(outside: Outside) -> None:
    copies = [message(order("eight"), f"copy{number}") for number in range(1, 9)]
    outside.send(*copies)
    assert [outside.outcome(copy) for copy in copies] == ["complete applied", *["complete duplicate"] * 7]
    assert sorted(outside.partition("eight")) == ["eight", "out:1"]


def test_a_line_per_delivery_has_the_ids(outside: Outside) -> None:
    placed = order("logged")
    sent = message(placed)
    outside.send(sent)
    (entry,) = outside.settled(str(sent.message_id))
    assert dict(entry.fields) == {
        "disposition": "complete", "outcome": "applied", "consumer": "orders", "key": "logged", "partition": "logged",
        "sequence": "1", "message_id": message_id(placed), "sequence_number": entry.fields["sequence_number"],
        "delivery_count": "1", "hash": request_hash(placed).removeprefix("v1:")[:16],
    }  # fmt: skip
    assert entry.fields["sequence_number"].isdigit()


def test_no_log_holds_a_body_or_a_secret(outside: Outside) -> None:
    placed = order("secret", customerId=SECRET)
    sent = [message(placed), message(changed(placed)), message(order("broken"), body=f'{{"orderId": "{SECRET}')]
    outside.send(*sent)
    answer = outside.request("POST", "/api/orders", json.dumps(order(f"{SECRET}/1")).encode())
    assert [outside.outcome(one) for one in sent] == [
        "complete applied",
        "dead-letter RequestHashMismatch",
        "dead-letter MalformedMessage",
    ]
    assert answer.status == 400
    assert leaks(outside.stack) == []
