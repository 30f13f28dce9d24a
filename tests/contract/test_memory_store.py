"""The memory store keeps the store contract."""

import pytest

from shared.testing.memory_store import MemoryStore
from tests.contract.store_contract import CASES, PARTITION_KEY, Case
from tests.contract.store_contract_batches import BATCH_CASES


@pytest.mark.parametrize("case", [*CASES, *BATCH_CASES], ids=lambda case: case.__name__)
async def test_contract(case: Case) -> None:
    await case(MemoryStore(PARTITION_KEY), "A1")
