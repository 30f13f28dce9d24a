import pytest

from devstack.cosmos.errors import CosmosError
from devstack.cosmos.wire.paths import ResourcePath, ResourceType, parse_path


def test_the_account() -> None:
    assert parse_path("/") == ResourcePath(ResourceType.ACCOUNT, None, None, None, ("",))


def test_an_item_is_signed_by_its_own_link() -> None:
    path = parse_path("/dbs/Shop/colls/orders/docs/A-1/")
    assert path == ResourcePath(ResourceType.ITEMS, "Shop", "orders", "A-1", ("dbs/Shop/colls/orders/docs/A-1", "a-1"))


def test_a_feed_is_signed_by_its_parents_link() -> None:
    path = parse_path("/dbs/Shop/colls/orders/docs/")
    assert (path.type, path.item) == (ResourceType.ITEMS, None)
    assert path.signed_links[0] == "dbs/Shop/colls/orders"
    assert parse_path("/dbs").signed_links[0] == ""


def test_rids_are_signed_in_lower_case_by_the_last_one_alone() -> None:
    path = parse_path("/dbs/AbCdEg==/colls/AbCdEoHxHcY=/pkranges")
    assert path.signed_links[1] == "abcdeohxhcy="
    assert (path.database, path.container) == ("AbCdEg==", "AbCdEoHxHcY=")


@pytest.mark.parametrize(
    ("encoded", "item_id"),
    [("..", ".."), (".", "."), ("a%20b", "a b"), ("%252F", "%2F"), ("%C3%A9", "é"), ("x==", "x=="), ("op:1", "op:1")],
)
def test_ids_stay_as_they_are(encoded: str, item_id: str) -> None:
    assert parse_path(f"/dbs/d/colls/c/docs/{encoded}/").item == item_id


@pytest.mark.parametrize(
    "raw", ["/offers", "/dbs/d/users", "/dbs//colls/c", "/dbs/d/docs/x", "/dbs/d/colls/c/docs/x/y"]
)
def test_what_is_no_resource_is_400(raw: str) -> None:
    with pytest.raises(CosmosError) as refused:
        parse_path(raw)
    assert refused.value.status == 400


def test_direct_mode_is_told_what_to_do() -> None:
    with pytest.raises(CosmosError, match=r"ConnectionMode\.Gateway"):
        parse_path("//addresses/?$resolveFor=x")
