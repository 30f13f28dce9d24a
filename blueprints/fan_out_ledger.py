"""Queue `ledgers`: each operation of a ledger's part sent on to its order's session."""

import azure.functions as func

from ordering.ledgers.parts import read_part
from shared.consumers import FanOut, fan_out

bp = func.Blueprint()

fan_out_ledger = fan_out(
    bp,
    FanOut(queue="ledgers", container="ledgers", destination="orders", read=read_part),
    name="fan_out_ledger",
)
