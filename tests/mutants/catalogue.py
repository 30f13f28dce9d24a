"""All mutants, by what they break."""

from typing import Final

from tests.mutants import commits, convoys, intake, settlements
from tests.mutants.mutant import Mutant

MUTANTS: Final[tuple[Mutant, ...]] = (
    *intake.MUTANTS,
    *commits.MUTANTS,
    *settlements.MUTANTS,
    *convoys.MUTANTS,
)
