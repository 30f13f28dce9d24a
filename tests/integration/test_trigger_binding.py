"""What the host hands over becomes the core's delivery, through the SDK's own decoder."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import UUID

import pytest
from azure.servicebus import ServiceBusReceivedMessage
from azurefunctions.extensions.base import Datum, get_binding_registry

from devstack.functions.binding_data import received_message_data
from devstack.servicebus.amqp.message import Message
from devstack.servicebus.client import Delivery as BrokerDelivery
from shared.idempotency.ports import Delivery
from shared.servicebus.binding import SessionMessage, read_binding_data
from shared.servicebus.envelope import delivery_of
from tests.integration.host_message import (
    APPLICATION_PROPERTIES,
    BODY,
    CONTENT,
    DATA,
    FROM_BROKER,
    LOCK_TOKEN,
    MESSAGE_ID,
    PROPERTIES,
    SENDERS_SECTIONS,
    TRACEPARENT,
    BindingData,
    properties_with,
    with_sections,
)

# The other types of the standard's message-id.
UUID_ID = bytes.fromhex("98 00112233445566778899aabbccddeeff")
ULONG_ID = bytes.fromhex("80 00000000000004d2")
BINARY_ID = bytes.fromhex("a0 03") + b"m-1"


def received(data: BindingData) -> Delivery:
    return delivery_of(read_binding_data(data))


def test_every_field_of_the_delivery_is_the_hosts() -> None:
    assert received(BindingData()) == Delivery(
        message_id=MESSAGE_ID,
        session_id="489434",
        sequence_number=1_234_567,
        delivery_count=2,
        body=BODY,
        traceparent=TRACEPARENT,
    )


def test_the_sdks_message_tells_lock_and_times() -> None:
    message = read_binding_data(BindingData())
    assert message.lock_token == UUID(LOCK_TOKEN)
    assert message.enqueued_time_utc == datetime(2025, 1, 1, tzinfo=UTC)
    assert message.locked_until_utc == datetime(2025, 1, 1, 0, 1, tzinfo=UTC)
    assert message.content_type == "application/json"
    assert message.application_properties == {b"traceparent": TRACEPARENT.encode(), b"attempt": 3}


def test_the_lock_token_stands_twice_and_is_the_same() -> None:
    message = read_binding_data(BindingData())
    assert message.lock_token == UUID(bytes_le=CONTENT[:16])


def test_the_local_host_hands_over_the_same_octets() -> None:
    data = received_message_data(BrokerDelivery(UUID(LOCK_TOKEN), Message.parse(FROM_BROKER)))
    assert data.content.hex(" ") == CONTENT.hex(" ")
    assert BindingData(data.content, data.version, data.source, data.content_type) == BindingData()


def test_the_worker_library_finds_the_converter_by_the_annotation() -> None:
    converter = get_binding_registry().get("serviceBusTrigger")
    assert converter.check_input_type_annotation(SessionMessage)
    assert not converter.check_input_type_annotation(str)
    message = converter.decode(
        Datum(value=BindingData(), type="model_binding_data"), trigger_metadata=None, pytype=SessionMessage
    )
    assert isinstance(message, ServiceBusReceivedMessage)
    assert delivery_of(message) == received(BindingData())


@pytest.mark.parametrize(
    ("message_id", "text"),
    [(UUID_ID, LOCK_TOKEN), (ULONG_ID, "1234"), (BINARY_ID, "m-1")],
    ids=["uuid", "ulong", "binary"],
)
def test_a_message_id_of_another_type_is_read_as_text(message_id: bytes, text: str) -> None:
    delivery = received(with_sections(senders=properties_with(message_id) + DATA))
    assert (delivery.message_id, delivery.session_id, delivery.body) == (text, "489434", BODY)


def test_a_message_without_properties_has_no_ids_and_no_trace() -> None:
    delivery = received(with_sections(senders=DATA))
    assert (delivery.message_id, delivery.session_id, delivery.traceparent) == ("", None, None)
    assert delivery.body == BODY


def test_a_traceparent_that_is_binary_is_read_as_text() -> None:
    binary = APPLICATION_PROPERTIES.replace(b"\xa1\x37", b"\xa0\x37")
    assert received(with_sections(senders=PROPERTIES + binary + DATA)).traceparent == TRACEPARENT


def test_a_traceparent_under_a_text_key_is_found() -> None:
    message = ServiceBusReceivedMessage.from_bytes(CONTENT[16:])
    message.application_properties = {"traceparent": TRACEPARENT}
    assert delivery_of(message).traceparent == TRACEPARENT


def test_a_body_in_two_data_sections_is_joined() -> None:
    two = bytes.fromhex("00 53 75 a0 04") + b'{"or' + bytes.fromhex("00 53 75 a0 10") + b'derId":"489434"}'
    assert received(with_sections(senders=PROPERTIES + two)).body == BODY


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(bytes.fromhex("00 53 77 a1 02") + b"{}", id="value: a string"),
        pytest.param(bytes.fromhex("00 53 77 40"), id="value: null"),
        pytest.param(bytes.fromhex("00 53 76 c0 03 01 54 01"), id="sequence: one integer"),
    ],
)
def test_a_body_of_another_kind_has_no_bytes(body: bytes) -> None:
    delivery = received(with_sections(senders=PROPERTIES + body))
    assert delivery.body is None
    assert delivery.message_id == MESSAGE_ID


@pytest.mark.parametrize(
    "header",
    [
        pytest.param(b"", id="absent"),
        pytest.param(bytes.fromhex("00 53 70 45"), id="empty"),
        pytest.param(bytes.fromhex("00 53 70 c0 07 05 41 40 40 40 52 00"), id="count 0"),
    ],
)
def test_a_count_below_one_is_a_first_delivery(header: bytes) -> None:
    assert received(with_sections(header=header)).delivery_count == 1


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (replace(BindingData(), source="AzureStorageQueues"), "binding data: source is 'AzureStorageQueues'"),
        (replace(BindingData(), version="2.0"), "binding data: version is '2.0', expected '1.0'"),
    ],
)
def test_what_this_was_not_written_for_is_refused_by_name(data: BindingData, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        read_binding_data(data)


@pytest.mark.parametrize("length", [0, 15, 16, 20, len(CONTENT) - len(SENDERS_SECTIONS) - 1])
def test_content_that_is_cut_off_is_refused_and_never_an_empty_message(length: int) -> None:
    with pytest.raises(ValueError, match=r"message (cannot be empty|is not a valid AMQP 1\.0 message payload)"):
        read_binding_data(BindingData(CONTENT[:length]))
