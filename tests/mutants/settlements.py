"""Mutants of how a delivery waits, decides and is settled."""

from tests.mutants.mutant import Mutant

ENGINE = "shared/idempotency/engine.py"
TRIES = "shared/idempotency/tries.py"
TRIGGERS = "shared/triggers.py"
DECISION_TESTS = "tests/unit/test_engine_decisions.py"
REDELIVERY_TESTS = "tests/unit/test_engine_redelivery.py"
FUNCTION_TESTS = (
    "tests/unit/test_crash_points_of_a_function.py"
    "::test_whatever_fails_each_message_leaves_the_queue_once_and_as_without_the_fault"
)
DEAD_LETTER_CALL = "await clients.settlement.dead_letter(message.lock_token, reason=reason, description=description)"

MUTANTS = (
    Mutant(
        "wait-dropped",
        ENGINE,
        "            await self.clock.sleep(wait)\n",
        "",
        f"{REDELIVERY_TESTS}::test_what_was_not_applied_waits_before_its_try",
    ),
    Mutant(
        "outage-skips-the-wait",
        ENGINE,
        "            with suppress(TransientError):",
        "            with suppress():",
        f"{REDELIVERY_TESTS}::test_an_outage_does_not_skip_the_wait",
    ),
    Mutant(
        "duplicate-waits",
        ENGINE,
        "                if known := await self._by_marker(run):\n                    return known\n",
        "                pass\n",
        f"{REDELIVERY_TESTS}::test_what_was_applied_is_a_duplicate_at_once",
    ),
    Mutant(
        "wait-without-end",
        "shared/idempotency/backoff.py",
        "    return min(doubled, limits.wait_seconds_max) * (1.0 + JITTER * fraction)",
        "    return doubled * (1.0 + JITTER * fraction)",
        f"{REDELIVERY_TESTS}::test_what_was_not_applied_waits_before_its_try",
    ),
    Mutant(
        "tries-without-deadline",
        TRIES,
        "        if number >= limits.tries_max or clock.monotonic() + pause >= deadline:",
        "        if number >= limits.tries_max:",
        "tests/unit/test_engine_outcomes.py::test_throttling_longer_than_the_tries_is_not_waited_for",
    ),
    Mutant(
        "commit-without-time-out",
        "shared/idempotency/time_limited_store.py",
        "            async with asyncio.timeout(self._call_seconds):\n"
        "                return await self._store.commit(partition, writes)\n",
        "            return await self._store.commit(partition, writes)\n",
        "tests/unit/test_effectively_once.py::test_a_consumer_with_markers_beside_its_state_passes",
    ),
    Mutant(
        "rejected-without-reading-the-marker",
        ENGINE,
        "                return await self._by_marker(run) or DeadLetter(code, detail)",
        "                return DeadLetter(code, detail)",
        f"{DECISION_TESTS}::test_no_rejection_stands_against_a_commit_of_an_earlier_run",
    ),
    Mutant(
        "event-too-large-without-reading-the-marker",
        ENGINE,
        "return await self._by_marker(run) or DeadLetter(DeadLetterReason.PAYLOAD_TOO_LARGE, detail)",
        "return DeadLetter(DeadLetterReason.PAYLOAD_TOO_LARGE, detail)",
        f"{DECISION_TESTS}::test_no_event_is_too_large_against_a_commit_of_an_earlier_run",
    ),
    Mutant(
        "ignored-without-marker",
        ENGINE,
        '                return await self._write(run, draft.ignore(run), attempt, "ignored")',
        '                return Complete("ignored")',
        f"{DECISION_TESTS}::test_an_ignored_message_leaves_its_marker",
    ),
    Mutant(
        "rejection-applied",
        ENGINE,
        "                return await self._by_marker(run) or DeadLetter(code, detail)",
        '                return Complete("ignored")',
        FUNCTION_TESTS,
    ),
    Mutant(
        "dead-letter-error-swallowed",
        TRIGGERS,
        f"            {DEAD_LETTER_CALL}\n",
        "            from contextlib import suppress\n"
        "            with suppress(TransientError):\n"
        f"                {DEAD_LETTER_CALL}\n",
        FUNCTION_TESTS,
    ),
    Mutant(
        "dead-letter-call-forgotten",
        TRIGGERS,
        f"            {DEAD_LETTER_CALL}\n",
        "",
        FUNCTION_TESTS,
    ),
    Mutant(
        "dead-letter-refusal-swallowed",
        "shared/servicebus/settlement.py",
        '            raise SettlementError(f"dead-letter: {error.code().name}") from error',
        "            return",
        "tests/integration/test_settlement.py::test_a_refusal_raises_with_the_status_alone",
    ),
    Mutant(
        "retry-returns",
        TRIGGERS,
        '            raise DeliverAgainError(f"deliver again: {cause}")',
        "            return",
        FUNCTION_TESTS,
    ),
    Mutant(
        "unconfirmed-send-taken-for-accepted",
        "shared/servicebus/sender.py",
        "            raise send_error(error) from error",
        "            return",
        "tests/integration/test_sender.py::test_a_missing_queue_is_no_fault_of_the_message",
    ),
)
