"""The app, and beside it an empty function and a consumer whose sessions are long."""

from copy import replace

import azure.functions as func

from blueprints import process_order_operation
from shared.consumers import documents, operations
from shared.idempotency.decisions import Apply, Decision
from shared.idempotency.messages import Event, Identifier, Message, State
from shared.servicebus.binding import SessionMessage

bp = func.Blueprint()


@bp.function_name("empty")
@bp.service_bus_queue_trigger(
    arg_name="message",
    connection="ServiceBusConnection",
    queue_name="empty",
    is_sessions_enabled=True,
    cardinality="one",
    auto_complete_messages=True,
)
async def empty(message: SessionMessage) -> None:
    """Does nothing: what is left is the host's and the worker's own work."""


class PointsGranted(Message, frozen=True, kw_only=True):
    """Comes in."""

    grant_id: Identifier
    customer_id: Identifier
    points: int


class Points(State, frozen=True):
    """A customer's points: container `loyalty`, id and partition key customerId."""

    customer_id: str
    total: int = 0


class PointsAdded(Event, frozen=True):
    """Goes out."""

    customer_id: str
    points: int


def add_points(points: Points | None, grant: PointsGranted) -> Decision[Points]:
    """A customer's total rises by what was granted."""
    now = points or Points(grant.customer_id)
    return Apply(replace(now, total=now.total + grant.points), [PointsAdded(grant.customer_id, grant.points)])


add_granted_points = operations(
    bp,
    queue="points",
    consumer="loyalty",
    message=PointsGranted,
    key=lambda grant: grant.grant_id,
    state=documents(Points, container="loyalty", partition_key="/customerId"),
)(add_points)

app = func.FunctionApp()
app.register_functions(process_order_operation.bp)
app.register_functions(bp)
