"""Mutants of what is taken in: bodies, ids, hashes, markers."""

from tests.mutants.mutant import Mutant

ENGINE = "shared/idempotency/engine.py"
INTAKE_TESTS = "tests/unit/test_engine_intake.py"
OUTCOME_TESTS = "tests/unit/test_engine_outcomes.py"
REDELIVERY_TESTS = "tests/unit/test_engine_redelivery.py"

MUTANTS = (
    Mutant(
        "message-id-unchecked",
        ENGINE,
        "        check_message_id(delivery.message_id, key=key, request_hash=hashed)\n",
        "",
        f"{INTAKE_TESTS}::test_a_message_id_with_another_key",
    ),
    Mutant(
        "message-id-hash-unchecked",
        "shared/idempotency/keys.py",
        "    if said.hash_prefix is not None and said.hash_prefix != hash_prefix(request_hash):",
        "    if False:",
        f"{INTAKE_TESTS}::test_a_message_id_with_another_hash",
    ),
    Mutant(
        "session-id-unchecked",
        ENGINE,
        "        check_session_id(delivery.session_id, partition=partition)\n",
        "",
        f"{INTAKE_TESTS}::test_a_session_id_of_another_partition",
    ),
    Mutant(
        "identifiers-unchecked",
        ENGINE,
        '        check_identifier("key", key)\n',
        "",
        f"{INTAKE_TESTS}::test_ids_that_the_platform_does_not_carry_are_refused_whatever_the_field_type",
    ),
    Mutant(
        "duplicate-keys-accepted",
        "shared/idempotency/json_text.py",
        "    if len(found) != len(pairs):",
        "    if False:",
        "tests/unit/test_json_text.py::test_what_is_refused",
    ),
    Mutant(
        "null-members-kept",
        "shared/idempotency/json_text.py",
        "    return {key: value for key, value in found.items() if value is not None}",
        "    return found",
        "tests/unit/test_json_text.py::test_what_is_read",
    ),
    Mutant(
        "null-hashed-differently",
        "shared/idempotency/request_hash.py",
        "        if item is None or item == _default(field):",
        "        if item is not None and item == _default(field):",
        "tests/unit/test_request_hash.py::test_what_does_not_change_the_hash",
    ),
    Mutant(
        "schema-version-hashed",
        "shared/idempotency/request_hash.py",
        '    fields.pop("schemaVersion", None)\n',
        "",
        "tests/unit/test_request_hash.py::test_the_schema_version_is_not_hashed",
    ),
    Mutant(
        "newer-schema-version-accepted",
        "shared/idempotency/messages.py",
        "    if version > SCHEMA_VERSION:",
        "    if False:",
        "tests/unit/test_messages.py::test_a_newer_schema_version_is_told_before_its_fields",
    ),
    Mutant(
        "hash-ignored",
        "shared/idempotency/admission.py",
        "    if isinstance(stored, str) and same_request(message, stored):",
        "    if isinstance(stored, str):",
        f"{OUTCOME_TESTS}::test_409_for_another_request",
    ),
    Mutant(
        "stored-hash-recomputed",
        "shared/idempotency/admission.py",
        '    stored = marker.get("requestHash")\n',
        "    import msgspec\n"
        "    from shared.idempotency.messages import decode_custom\n"
        "    from shared.idempotency.request_hash import request_hash\n"
        '    stored = request_hash(msgspec.convert(marker["payload"], type(message), dec_hook=decode_custom))\n',
        f"{REDELIVERY_TESTS}::test_the_stored_hash_counts_whatever_became_of_the_payload",
    ),
    Mutant(
        "newer-hash-version-taken-for-a-mismatch",
        "shared/idempotency/request_hash.py",
        '        raise NewerVersionError(f"request hash version {version[:10]} is not known to this code")',
        "        return False",
        f"{REDELIVERY_TESTS}::test_a_marker_with_a_newer_hash_waits_for_newer_code",
    ),
    Mutant(
        "own-write-forgotten",
        "shared/idempotency/admission.py",
        '    if marker.get("attemptId") == attempt_id:',
        "    if False:",
        f"{OUTCOME_TESTS}::test_409_for_our_own_write",
    ),
    Mutant(
        "attempts-share-one-id",
        ENGINE,
        "            attempt_id=self.random.attempt_id(),",
        '            attempt_id="attempt",',
        f"{OUTCOME_TESTS}::test_409_for_another_request",
    ),
    Mutant(
        "delivery-count-raised-twice",
        "shared/servicebus/envelope.py",
        "        delivery_count=message.delivery_count or 1,",
        "        delivery_count=(message.delivery_count or 0) + 1,",
        "tests/integration/test_trigger_binding.py::test_every_field_of_the_delivery_is_the_hosts",
    ),
)
