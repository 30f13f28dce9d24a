"""Mutants of what is committed, and of what the store's answers mean."""

from tests.mutants.mutant import Mutant

ENGINE = "shared/idempotency/engine.py"
DRAFT = "shared/idempotency/draft.py"
DISPOSITION = "shared/idempotency/disposition.py"
COSMOS_OUTCOMES = "shared/cosmos/outcomes.py"
OUTCOME_TESTS = "tests/unit/test_engine_outcomes.py"
PROOF_TESTS = "tests/unit/test_effectively_once.py"

MUTANTS = (
    Mutant(
        "etag-dropped",
        "shared/cosmos/store.py",
        '            return ("replace", (body["id"], body), {"if_match_etag": etag})',
        '            return ("replace", (body["id"], body))',
        "tests/contract/test_cosmos_store.py::test_contract[a_replace_at_an_old_etag_is_a_conflict_and_writes_nothing]",
    ),
    Mutant(
        "etag-not-compared-by-the-memory-store",
        "shared/testing/memory_store.py",
        "            return None if found[1] == etag else Conflict(412)",
        "            return None",
        "tests/contract/test_memory_store.py::test_contract[a_replace_at_an_old_etag_is_a_conflict_and_writes_nothing]",
    ),
    Mutant(
        "settled-before-the-commit-is-known",
        ENGINE,
        "        committed = await self._commit(run.partition, composed.writes)\n",
        "        from shared.idempotency.ports import Committed\n"
        "        asyncio.ensure_future(self._commit(run.partition, composed.writes))\n"
        "        committed = Committed()\n",
        f"{PROOF_TESTS}::test_a_consumer_with_markers_beside_its_state_passes",
    ),
    Mutant(
        "marker-not-first",
        DRAFT,
        "(*markers[:1], head, *markers[1:], *parts, *self.outbox)",
        "(head, *markers, *parts, *self.outbox)",
        f"{OUTCOME_TESTS}::test_409_for_the_same_request",
    ),
    Mutant(
        "no-marker-beside-the-state",
        DRAFT,
        "(*markers[:1], head, *markers[1:], *parts, *self.outbox)",
        "(head, *parts, *self.outbox)",
        f"{PROOF_TESTS}::test_a_consumer_with_markers_beside_its_state_passes",
    ),
    Mutant(
        "marks-of-the-creating-message-lost",
        DRAFT,
        "        marks: Document = {name: body[name] for name in _MARKS if body and name in body}",
        "        marks: Document = {}",
        f"{PROOF_TESTS}::test_a_consumer_whose_state_is_its_marker_passes",
    ),
    Mutant(
        "event-sequence-not-raised",
        DRAFT,
        "        number = self.progress.event_sequence + 1\n",
        "        number = self.progress.event_sequence or 1\n",
        "tests/unit/test_draft.py::test_a_later_operation_replaces_the_state_and_goes_on_counting",
    ),
    Mutant(
        "outbox-sequence-not-raised",
        DRAFT,
        "        number = self.progress.outbox_sequence + 1\n",
        "        number = self.progress.outbox_sequence or 1\n",
        f"{PROOF_TESTS}::test_a_consumer_with_markers_beside_its_state_passes",
    ),
    Mutant(
        "event-id-by-chance",
        "shared/outbox/events.py",
        '        identity = f"{partition}:{number}"',
        "        identity = f\"{partition}:{__import__('uuid').uuid4()}\"",
        f"{PROOF_TESTS}::test_a_consumer_with_markers_beside_its_state_passes",
    ),
    Mutant(
        "newer-document-written-over",
        "shared/idempotency/consumer.py",
        "    if isinstance(version, int) and version > DOC_VERSION:",
        "    if False:",
        "tests/unit/test_engine_redelivery.py::test_a_state_of_newer_code_is_never_written_over",
    ),
    Mutant(
        "unknown-taken-for-failed",
        DISPOSITION,
        "        case OutcomeUnknown(cause):\n            return ReadMarker(cause)",
        "        case OutcomeUnknown(cause):\n            return TryAgain(cause)",
        f"{OUTCOME_TESTS}::test_an_unknown_outcome_that_was_applied",
    ),
    Mutant(
        "unknown-taken-for-applied",
        DISPOSITION,
        "        case OutcomeUnknown(cause):\n            return ReadMarker(cause)",
        '        case OutcomeUnknown(_):\n            return Complete("applied")',
        f"{PROOF_TESTS}::test_a_consumer_with_markers_beside_its_state_passes",
    ),
    Mutant(
        "marker-not-read-after-409",
        DISPOSITION,
        '            return ReadMarker("marker exists")',
        '            return Complete("duplicate")',
        f"{OUTCOME_TESTS}::test_409_for_another_request",
    ),
    Mutant(
        "404-after-409-taken-for-a-duplicate",
        ENGINE,
        "            return await self._by_marker(run) or TryAgain(step.cause)",
        '            return await self._by_marker(run) or Complete("duplicate")',
        f"{OUTCOME_TESTS}::test_404_after_409_is_tried_again",
    ),
    Mutant(
        "429-pause-ignored",
        DISPOSITION,
        '            return TryAgain("throttled", retry_after_seconds)',
        '            return TryAgain("throttled")',
        f"{OUTCOME_TESTS}::test_throttling_is_waited_out_within_the_tries",
    ),
    Mutant(
        "429-taken-for-the-messages-fault",
        COSMOS_OUTCOMES,
        "        case 429, _:\n            return Throttled(after)\n",
        "",
        "tests/unit/test_cosmos_outcomes.py::test_every_status",
    ),
    Mutant(
        "any-409-taken-for-the-marker",
        COSMOS_OUTCOMES,
        "        case 409, _ if first:",
        "        case 409, _:",
        "tests/contract/test_cosmos_store.py"
        "::test_contract[a_batch_whose_later_create_is_taken_is_a_conflict_and_writes_nothing]",
    ),
    Mutant(
        "partition-full-retried",
        DISPOSITION,
        '            return DeadLetter(DeadLetterReason.PARTITION_FULL, "the partition is at the store\'s size limit")',
        '            return TryAgain("partition full")',
        f"{OUTCOME_TESTS}::test_what_another_try_cannot_help",
    ),
    Mutant(
        "access-denied-taken-for-the-messages-fault",
        DISPOSITION,
        '            return Retry(f"store access denied {status}", alert=True)',
        '            return DeadLetter(DeadLetterReason.STORE_REJECTED, f"store access denied {status}")',
        f"{OUTCOME_TESTS}::test_access_denied_is_not_the_messages_fault",
    ),
    Mutant(
        "refused-once-taken-for-the-messages-fault",
        DISPOSITION,
        "REFUSALS_MAX: Final = 2",
        "REFUSALS_MAX: Final = 1",
        f"{OUTCOME_TESTS}::test_a_request_refused_once_may_pass",
    ),
    Mutant(
        "408-taken-for-the-messages-fault",
        COSMOS_OUTCOMES,
        '        case 408 | 410 | 424, _:\n            return OutcomeUnknown(f"status {status}")\n',
        "",
        "tests/unit/test_cosmos_outcomes.py::test_every_status",
    ),
    Mutant(
        "missing-container-taken-for-no-document",
        COSMOS_OUTCOMES,
        "    return error.status_code == 404 and _sub_status(error) == 0 and _is_about_documents(error)",
        "    return error.status_code == 404",
        "tests/unit/test_cosmos_outcomes.py::test_a_document_that_is_not_there",
    ),
    Mutant(
        "reads-without-session",
        "shared/cosmos/client.py",
        "                await self._client.__aenter__()\n",
        "",
        "tests/integration/test_store_calls.py::test_what_refused_a_write_of_ours_is_read_by_the_next_call",
    ),
)
