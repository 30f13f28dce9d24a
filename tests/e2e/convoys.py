"""Operations of an order beside its placing, as a producer sends them, and the plain model of what they come to."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from hashlib import sha256

import rfc8785
from azure.servicebus import ServiceBusMessage

from samples.request_hash import Json
from tests.e2e.orders import Order


def operation(order_id: str, sequence: int, name: str, /, **fields: Json) -> Order:
    """An operation; its id is made of the order's and the number."""
    common: Order = {
        "schemaVersion": 1,
        "type": name,
        "orderId": order_id,
        "operationId": f"{order_id}-{sequence}",
        "sequence": sequence,
        "occurredAt": "2026-03-02T09:30:00Z",
    }
    return {**common, **fields}


def added(order_id: str, sequence: int, transaction: str, amount: str) -> Order:
    """A transaction more."""
    return operation(order_id, sequence, "TransactionAdded", transactionId=transaction, kind="payment", amount=amount)


def amended(order_id: str, sequence: int, transaction: str, amount: str) -> Order:
    """An earlier transaction's new amount."""
    return operation(order_id, sequence, "TransactionAmended", transactionId=transaction, amount=amount)


def convoy_message(said: Order, suffix: str = "") -> ServiceBusMessage:
    """A well-formed message of an operation beside the placing; amounts and times must be in their one spelling."""
    hashed = {name: value for name, value in said.items() if name != "schemaVersion"}
    digest = sha256(rfc8785.dumps(hashed)).hexdigest()[:16]
    ending = f"~{suffix}" if suffix else ""
    return ServiceBusMessage(
        json.dumps(said),
        message_id=f"{said['operationId']}~{digest}{ending}",
        session_id=str(said["orderId"]),
        content_type="application/json",
    )


@dataclass
class Model:
    """One order: operations applied once, in sequence. The reference for everything else."""

    sequence: int = 1
    amounts: dict[str, Decimal] = field(default_factory=dict)

    def apply(self, operations: Sequence[Order]) -> None:
        """Apply them."""
        for said in operations:
            assert said["sequence"] == self.sequence + 1
            self.sequence += 1
            if "transactionId" in said:
                self.amounts[str(said["transactionId"])] = Decimal(str(said["amount"]))

    @property
    def total(self) -> Decimal:
        """Sum of the transactions."""
        return sum(self.amounts.values(), Decimal(0))
