"""Transactional batch: every operation, or none."""

from dataclasses import dataclass
from typing import Final

from devstack.cosmos.charges import error_charge
from devstack.cosmos.errors import CosmosError, bad_request, failed_dependency
from devstack.cosmos.items.execute import execute
from devstack.cosmos.items.operations import Operation, Outcome
from devstack.cosmos.store.catalogue import Container
from devstack.cosmos.store.store import Store

# Source: "Azure Cosmos DB service quotas", transactional batch.
OPERATIONS_MAX: Final = 100


@dataclass(frozen=True, slots=True)
class Committed:
    """All operations took effect; their outcomes in sequence."""

    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True)
class RolledBack:
    """Nothing took effect; ``errors`` holds the failing operation's own error and 424 for all others."""

    errors: tuple[CosmosError, ...]

    @property
    def charge(self) -> float:
        """The charge of the operation that failed."""
        return sum(error_charge(error.status) for error in self.errors)


class _OperationFailedError(Exception):
    """Carries the failing operation's place out of the transaction, which rolls back on the way."""

    def __init__(self, index: int, error: CosmosError) -> None:
        super().__init__(index)
        self.index = index
        self.error = error


def execute_batch(
    store: Store, container: Container, partition_key: str, operations: tuple[Operation, ...]
) -> Committed | RolledBack:
    """Execute operations on one partition in one transaction, in sequence, up to the first that fails.

    Raises:
        CosmosError: 400 for an empty batch or more than 100 operations; nothing was tried.
    """
    if not operations:
        raise bad_request("A batch must hold at least one operation.")
    if len(operations) > OPERATIONS_MAX:
        raise bad_request(f"A batch must hold at most {OPERATIONS_MAX} operations, not {len(operations)}.")
    try:
        return _execute_all(store, container, partition_key, operations)
    except _OperationFailedError as failure:
        errors = [failed_dependency() for _ in operations]
        errors[failure.index] = failure.error
        return RolledBack(tuple(errors))


def _execute_all(
    store: Store, container: Container, partition_key: str, operations: tuple[Operation, ...]
) -> Committed:
    outcomes: list[Outcome] = []
    with store.partition(container, partition_key) as partition:
        for index, operation in enumerate(operations):
            try:
                outcomes.append(execute(partition, operation))
            except CosmosError as error:
                raise _OperationFailedError(index, error) from error
    return Committed(tuple(outcomes))
