from samples.order_store import Document, sort_documents, without_system_fields

ORDER: Document = {"id": "A1", "type": "order", "_ts": 1}
EVENT: Document = {"id": "out:1", "type": "outbox"}


def test_documents_are_told_apart() -> None:
    marker: Document = {"id": "op:X", "type": "operation"}
    found = sort_documents("A1", [EVENT, marker, ORDER])
    assert (found.order, found.events, found.others) == (ORDER, (EVENT,), (marker,))
    assert not found.is_empty


def test_an_unknown_order_has_an_empty_partition() -> None:
    assert sort_documents("A1", []).is_empty


def test_the_stores_own_fields_are_left_out() -> None:
    assert without_system_fields(ORDER) == {"id": "A1", "type": "order"}
