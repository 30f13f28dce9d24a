import base64

import pytest

from devstack.cosmos.errors import CosmosError
from devstack.cosmos.wire.auth import authorization_header, authorize, sign

# The worked example of "Access control on Azure Cosmos DB resources" (REST reference).
KEY = base64.b64decode("dsZQi3KtZmCv1ljt3VNWNm7sQUF1y5rJfC6kv5JiwvW0EndXdDku/dkKBp8/ufDToSxLzR4y+O/0H/t4bQtVNw==")
DATE = "Thu, 27 Apr 2017 00:51:12 GMT"
HEADER = "type%3dmaster%26ver%3d1.0%26sig%3dc09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu%2bc%2bc%3d"


def test_the_signature_is_that_of_the_published_example() -> None:
    assert sign(KEY, "GET", "dbs", "dbs/ToDoList", DATE) == "c09PEVJrgp2uQRkr934kFbTqhByc7TVr3OHyqlu+c+c="


def test_the_published_header_is_accepted_with_its_plus_signs() -> None:
    authorize(KEY, "GET", "dbs", ["dbs/ToDoList"], DATE, HEADER)


def test_any_of_the_links_may_be_the_signed_one() -> None:
    header = authorization_header(KEY, "GET", "pkranges", "abcd==", DATE)
    authorize(KEY, "GET", "pkranges", ["dbs/X/colls/Y", "abcd=="], DATE, header)


@pytest.mark.parametrize(
    ("verb", "resource_type", "link", "date"),
    [
        ("PUT", "dbs", "dbs/ToDoList", DATE),
        ("GET", "colls", "dbs/ToDoList", DATE),
        ("GET", "dbs", "dbs/todolist", DATE),
        ("GET", "dbs", "dbs/ToDoList", "Thu, 27 Apr 2017 00:51:13 GMT"),
    ],
)
def test_every_part_is_signed(verb: str, resource_type: str, link: str, date: str) -> None:
    with pytest.raises(CosmosError) as refused:
        authorize(KEY, verb, resource_type, [link], date, HEADER)
    assert (refused.value.status, refused.value.code) == (401, "Unauthorized")


@pytest.mark.parametrize(
    ("date", "header", "words"),
    [
        (DATE, None, "authorization is missing"),
        (DATE, "", "authorization is missing"),
        (None, HEADER, "x-ms-date is missing"),
        (DATE, "type%3daad%26ver%3d1.0%26sig%3dabc", "type master"),
        (DATE, "type%3dmaster%26ver%3d1.0", "wrong key"),
        (DATE, "nonsense", "type master"),
        (DATE, "type%3dmaster%26ver%3d1.0%26sig%3d%C3%A9", "wrong key"),
    ],
)
def test_what_is_no_signature_is_401(date: str | None, header: str | None, words: str) -> None:
    with pytest.raises(CosmosError, match=words) as refused:
        authorize(KEY, "GET", "dbs", ["dbs/ToDoList"], date, header)
    assert refused.value.status == 401


def test_another_key_is_401() -> None:
    with pytest.raises(CosmosError, match="wrong key"):
        authorize(b"another key", "GET", "dbs", ["dbs/ToDoList"], DATE, HEADER)
