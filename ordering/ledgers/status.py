"""What has become of a ledger, by the documents of its parts. Pure."""

from collections.abc import Sequence
from typing import Final

from shared.idempotency.json_text import Json
from shared.idempotency.ports import Document

FAULTS_SHOWN: Final = 20
"""Of one part; its document has them all."""


def ledger_status(ledger_id: str, documents: Sequence[Document]) -> dict[str, Json]:
    """The ledger as it is shown.

    Args:
        ledger_id: names it.
        documents: of its parts, at least one, in any order.

    Returns:
        `{ledgerId, source, state, sent, total, parts, missing, partStates}`. `state` is the first that holds:

            inconsistent   the parts name different sources, or numbers of parts
            rejected       a part has a faulty line: nothing of it was sent; a corrected one may follow
            incomplete     `missing` parts have not come
            sending        some operations are not known to be sent
            sent           every operation is in its order's session
    """
    parts = sorted(documents, key=lambda document: _number(document, "part"))
    last = max(_number(document, "parts") for document in parts)
    present = {_number(document, "part") for document in parts}
    missing: list[Json] = [number for number in range(1, last + 1) if number not in present]
    return {
        "ledgerId": ledger_id,
        "source": parts[0]["source"],
        "state": _state(parts, is_whole=not missing),
        "sent": sum(_number(document, "sent") for document in parts),
        "total": sum(_number(document, "total") for document in parts),
        "parts": last,
        "missing": missing,
        "partStates": [_part_state(document) for document in parts],
    }


def _state(parts: Sequence[Document], *, is_whole: bool) -> str:
    states = {document["state"] for document in parts}
    if len({(str(document["source"]), _number(document, "parts")) for document in parts}) > 1:
        return "inconsistent"
    if "rejected" in states:
        return "rejected"
    if not is_whole:
        return "incomplete"
    return "sending" if "sending" in states else "sent"


def _part_state(document: Document) -> dict[str, Json]:
    shown = {name: document[name] for name in ("part", "state", "sent", "total", "updatedAt")}
    faults = document.get("faults")
    if isinstance(faults, list):
        shown |= {"faultyLines": len(faults), "faults": faults[:FAULTS_SHOWN]}
    return shown


def _number(document: Document, name: str) -> int:
    value = document[name]
    return value if isinstance(value, int) else 0
