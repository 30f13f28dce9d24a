"""Mutants of the sequence: parking, draining, sending back, the cache."""

from tests.mutants.mutant import Mutant

ENGINE = "shared/convoy/engine.py"
DRAINING = "shared/convoy/draining.py"
DRAFT = "shared/idempotency/draft.py"
HISTORIES = "tests/property/test_convoy.py::test_any_history_of_an_order_ends_as_its_operations_in_sequence"
ENGINE_TESTS = "tests/unit/test_convoy_engine.py"

MUTANTS = (
    Mutant(
        "verdict-without-reading-the-marker",
        ENGINE,
        "        if known := await self._by_marker(run):\n            return known\n",
        "",
        HISTORIES,
    ),
    Mutant(
        "verdict-on-a-cached-document",
        ENGINE,
        "        if not is_cached:\n            return verdict\n",
        "        if not is_cached or True:\n            return verdict\n",
        f"{ENGINE_TESTS}::test_no_dead_letter_is_decided_on_a_cached_document",
    ),
    Mutant(
        "cache-kept-after-an-unknown-commit",
        ENGINE,
        "        self.cache.drop(partition)\n        outcome",
        "        outcome",
        f"{ENGINE_TESTS}::test_only_a_commit_that_is_known_fills_the_cache",
    ),
    Mutant(
        "what-is-due-does-not-go-first",
        ENGINE,
        "        if progress.due:\n",
        "        if False:\n",
        f"{ENGINE_TESTS}::test_what_is_due_goes_first_and_may_free_a_number",
    ),
    Mutant(
        "completed-without-draining",
        ENGINE,
        "        await self._drain(run.partition, self.cache.get(run.partition), run.figures)\n",
        "        return\n",
        HISTORIES,
    ),
    Mutant(
        "more-forgotten",
        ENGINE,
        '        if marker.body.get("more") is True or "drainSince" in marker.body:\n',
        "        if False:\n",
        HISTORIES,
    ),
    Mutant(
        "sent-back-under-the-old-message-id",
        DRAFT,
        "~b{outbox_sequence}",
        "",
        HISTORIES,
    ),
    Mutant(
        "left-behind-by-a-close",
        DRAINING,
        "        if draft.progress.closed or send_back:\n",
        "        if send_back:\n",
        HISTORIES,
    ),
    Mutant(
        "overtakes-what-was-sent-back",
        DRAINING,
        "        if number != draft.progress.last_sequence + 1:\n",
        "        if False:\n",
        HISTORIES,
    ),
    Mutant(
        "a-waiting-state-taken-for-a-marker",
        "shared/idempotency/admission.py",
        '    if marker.get("lastSequence") == 0:\n',
        "    if False:\n",
        HISTORIES,
    ),
)
