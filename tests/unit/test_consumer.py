"""A consumer as data: registration faults are named, documents are read by version."""

from dataclasses import replace

import pytest

from shared.idempotency.consumer import StateDocuments, message_types
from shared.idempotency.errors import ConfigurationError, NewerVersionError
from shared.idempotency.messages import Identifier, Message, State
from shared.idempotency.ports import StoredDocument
from tests.unit.example_consumers import (
    ACCOUNTS,
    LOYALTY,
    Account,
    AccountMessage,
    AccountOpened,
    OwnerChanged,
    Points,
    PointsGranted,
    changed,
    grant,
    opened,
)


class Unplaced(Message, frozen=True, kw_only=True):
    grant_id: Identifier


type WithUnplaced = PointsGranted | Unplaced


class Engines(State, frozen=True):
    customer_id: str
    id: str
    updated_at: str


def documents(**changes: object) -> StateDocuments[Points]:
    return replace(LOYALTY.documents, **changes)  # type: ignore[arg-type] # changes of any field


def test_sound_registrations() -> None:
    LOYALTY.documents.check(PointsGranted)
    ACCOUNTS.documents.check(AccountMessage)


@pytest.mark.parametrize("path", ["customerId", "", "/", "/customer/id", "//customerId"])
def test_a_partition_key_is_one_path(path: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        documents(partition_key=path).check(PointsGranted)
    assert str(caught.value) == f"partition_key {path!r}: write one path, such as /orderId"


def test_a_state_is_a_state_and_a_message_a_message() -> None:
    with pytest.raises(ConfigurationError, match=r"^state <class 'dict'>: must be a subclass of State$"):
        documents(state=dict).check(PointsGranted)
    for shape in (Points, dict, PointsGranted | AccountOpened, "PointsGranted"):
        with pytest.raises(ConfigurationError, match=r"must be a subclass of Message, or a `type A = B \| C` of such"):
            LOYALTY.documents.check(shape)  # type: ignore[arg-type] # the fault under test


class Optional(Message, frozen=True, kw_only=True):
    customer_id: Identifier | None = None


class Defaulted(Message, frozen=True, kw_only=True):
    customer_id: Identifier = Identifier("c1")


class Numbered(Message, frozen=True, kw_only=True):
    customer_id: int


@pytest.mark.parametrize("shape", [Optional, Defaulted, Numbered])
def test_a_message_always_names_its_partition(shape: type[Message]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        LOYALTY.documents.check(shape)
    assert str(caught.value) == f"{shape.__name__}: customerId must be an Identifier without a default"


def test_the_state_bears_the_partition_key() -> None:
    with pytest.raises(ConfigurationError) as caught:
        documents(partition_key="/basketId").check(PointsGranted)
    assert str(caught.value) == "Points: add the partition key's field basketId"


def test_every_message_bears_the_partition_key() -> None:
    with pytest.raises(ConfigurationError) as caught:
        LOYALTY.documents.check(WithUnplaced)
    assert str(caught.value) == "Unplaced: add the partition key's field customerId"


def test_the_engine_writes_its_fields_itself() -> None:
    with pytest.raises(ConfigurationError) as caught:
        documents(state=Engines).check(PointsGranted)
    assert str(caught.value) == "Engines: rename id, updatedAt; the engine writes these itself"


def test_the_classes_of_a_message_shape() -> None:
    assert message_types(PointsGranted) == (PointsGranted,)
    assert message_types(AccountMessage) == (AccountOpened, OwnerChanged)


def test_where_a_message_is_marked() -> None:
    assert (LOYALTY.partition_of(grant("g1", customer="c1")), LOYALTY.marker_id(grant("g1"))) == ("c1", "op:g1")
    assert (ACCOUNTS.partition_of(opened("a1")), ACCOUNTS.marker_id(opened("a1"))) == ("a1", "a1")
    assert (ACCOUNTS.partition_of(changed("x1", account="a1")), ACCOUNTS.marker_id(changed("x1"))) == ("a1", "op:x1")


def test_a_state_is_read_from_its_document() -> None:
    stored = StoredDocument({"id": "a1", "accountId": "a1", "owner": "Ada", "type": "Account", "docVersion": 1}, '"1"')
    assert ACCOUNTS.documents.read_state(stored) == Account("a1", "Ada")


def test_a_document_of_newer_code_is_not_read() -> None:
    stored = StoredDocument({"id": "c1", "customerId": "c1", "docVersion": 2, "points": {"gold": 1}}, '"1"')
    with pytest.raises(NewerVersionError, match="document version 2 is newer than 1"):
        LOYALTY.documents.read_state(stored)
