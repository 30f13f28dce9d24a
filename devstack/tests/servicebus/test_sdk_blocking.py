"""The unmodified blocking SDK, which is what scripts and tools use, against a broker on a thread."""

import pytest
from azure.servicebus import ServiceBusClient, ServiceBusMessage, ServiceBusSubQueue
from azure.servicebus.exceptions import ServiceBusAuthenticationError


def test_a_message_goes_the_whole_way(threaded: str) -> None:
    with ServiceBusClient.from_connection_string(threaded, retry_total=0) as client:
        with client.get_queue_sender("orders") as sender:
            sender.send_messages([ServiceBusMessage(text, session_id="s") for text in ("1", "2", "3")])
        with client.get_queue_receiver("orders", session_id="s") as receiver:
            assert receiver.session.session_id == "s"
            one, two, three = receiver.receive_messages(3, max_wait_time=2)
            receiver.complete_message(one)
            receiver.dead_letter_message(two, reason="Reason", error_description="Description")
            receiver.abandon_message(three)
            assert receiver.session.renew_lock() == receiver.session.locked_until_utc
            (again,) = receiver.receive_messages(1, max_wait_time=2)
            assert (str(again), again.delivery_count) == ("3", 1)
            receiver.complete_message(again)
        with client.get_queue_receiver("orders", sub_queue=ServiceBusSubQueue.DEAD_LETTER) as receiver:
            (dead,) = receiver.receive_messages(1, max_wait_time=2)
            assert (str(dead), dead.dead_letter_reason) == ("2", "Reason")
            receiver.complete_message(dead)


def test_a_wrong_key_is_refused(threaded: str) -> None:
    wrong = threaded.replace("SharedAccessKey=", "SharedAccessKey=not-")
    with ServiceBusClient.from_connection_string(wrong, retry_total=0) as client:
        sender = client.get_queue_sender("orders")
        with pytest.raises(ServiceBusAuthenticationError):
            sender.send_messages(ServiceBusMessage("x"))
        sender.close()
