"""The messages that are sent: orders, grants of points, and messages without meaning."""

import json

from azure.servicebus import ServiceBusMessage

from tests.e2e.orders import message, order


def order_message(number: int) -> ServiceBusMessage:
    """A new order in a session of its own."""
    return message(order(f"order-{number}"))


def grant_message(number: int, customer: int) -> ServiceBusMessage:
    """A grant of one point, in the session of its customer."""
    body = {"type": "PointsGranted", "grantId": f"grant-{number}", "customerId": f"customer-{customer}", "points": 1}
    return ServiceBusMessage(json.dumps(body), message_id=f"grant-{number}", session_id=f"customer-{customer}")


def empty_message(number: int, session: int) -> ServiceBusMessage:
    """A message for the empty function."""
    return ServiceBusMessage(b"{}", message_id=f"empty-{number}", session_id=f"session-{session}")
