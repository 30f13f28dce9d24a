import pytest

from devstack.cosmos.errors import CosmosError
from devstack.cosmos.items.patch import apply_patch, parse_patch
from devstack.cosmos.json_values import Json, JsonObject

DOCUMENT: JsonObject = {"id": "1", "k": "a", "n": 1, "tags": ["x", "y"], "a": {"b": {"c": 1}}, "s/t": 1, "u~v": 1}


def changed(*operations: JsonObject, condition: str | None = None) -> JsonObject:
    body: JsonObject = {"operations": list(operations)}
    if condition is not None:
        body["condition"] = condition
    return apply_patch(parse_patch(body), DOCUMENT, "/k")


@pytest.mark.parametrize(
    ("operation", "path", "value"),
    [
        ({"op": "add", "path": "/new", "value": 1}, "new", 1),
        ({"op": "add", "path": "/n", "value": 2}, "n", 2),
        ({"op": "add", "path": "/tags/0", "value": "w"}, "tags", ["w", "x", "y"]),
        ({"op": "add", "path": "/tags/2", "value": "z"}, "tags", ["x", "y", "z"]),
        ({"op": "add", "path": "/tags/-", "value": "z"}, "tags", ["x", "y", "z"]),
        ({"op": "set", "path": "/new", "value": None}, "new", None),
        ({"op": "set", "path": "/tags/0", "value": "w"}, "tags", ["w", "y"]),
        ({"op": "set", "path": "/a/b/c", "value": 2}, "a", {"b": {"c": 2}}),
        ({"op": "replace", "path": "/n", "value": "two"}, "n", "two"),
        ({"op": "replace", "path": "/tags/1", "value": "z"}, "tags", ["x", "z"]),
        ({"op": "remove", "path": "/tags/0"}, "tags", ["y"]),
        ({"op": "remove", "path": "/a/b"}, "a", {}),
        ({"op": "incr", "path": "/n", "value": 2}, "n", 3),
        ({"op": "incr", "path": "/n", "value": -0.5}, "n", 0.5),
        ({"op": "incr", "path": "/count", "value": 5}, "count", 5),
        ({"op": "incr", "path": "/a/b/c", "value": 1}, "a", {"b": {"c": 2}}),
        ({"op": "move", "from": "/n", "path": "/tags/0"}, "tags", [1, "x", "y"]),
        ({"op": "set", "path": "/s~1t", "value": 2}, "s/t", 2),
        ({"op": "set", "path": "/u~0v", "value": 2}, "u~v", 2),
        ({"op": "SET", "path": "/n", "value": 9}, "n", 9),
    ],
)
def test_each_operation(operation: JsonObject, path: str, value: Json) -> None:
    result = changed(operation)
    assert result[path] == value
    untouched = DOCUMENT.keys() - {path, "n"}
    assert {name: result[name] for name in untouched} == {name: DOCUMENT[name] for name in untouched}


def test_a_move_takes_the_source_away() -> None:
    assert "n" not in changed({"op": "move", "from": "/n", "path": "/m"})


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "add", "path": "/missing/x", "value": 1},
        {"op": "add", "path": "/tags/3", "value": 1},
        {"op": "add", "path": "/tags/x", "value": 1},
        {"op": "add", "path": "/tags/01", "value": 1},
        {"op": "add", "path": "/tags/" + "9" * 5000, "value": 1},
        {"op": "add", "path": "/n/x", "value": 1},
        {"op": "set", "path": "/tags/2", "value": 1},
        {"op": "replace", "path": "/missing", "value": 1},
        {"op": "replace", "path": "/tags/-", "value": 1},
        {"op": "remove", "path": "/missing"},
        {"op": "remove", "path": "/tags/2"},
        {"op": "incr", "path": "/tags", "value": 1},
        {"op": "incr", "path": "/n", "value": "1"},
        {"op": "incr", "path": "/n", "value": True},
        {"op": "move", "from": "/missing", "path": "/m"},
        {"op": "move", "from": "/a", "path": "/a/b/d"},
        {"op": "move", "path": "/m"},
        {"op": "set", "path": "/n"},
        {"op": "set", "path": "n", "value": 1},
        {"op": "set", "path": "/", "value": 1},
        {"op": "set", "path": 7, "value": 1},
        {"op": "copy", "path": "/n", "value": 1},
        {"path": "/n", "value": 1},
    ],
)
def test_what_does_not_fit_is_400(operation: JsonObject) -> None:
    with pytest.raises(CosmosError) as refused:
        changed(operation)
    assert refused.value.status == 400


@pytest.mark.parametrize("path", ["/id", "/k", "/_etag", "/_ts", "/_rid", "/_self/x"])
def test_identity_and_system_properties_stay(path: str) -> None:
    with pytest.raises(CosmosError, match="cannot change"):
        changed({"op": "set", "path": path, "value": "z"})
    with pytest.raises(CosmosError, match="cannot change"):
        changed({"op": "move", "from": path, "path": "/m"})


def test_a_parent_of_the_partition_key_stays() -> None:
    patch = parse_patch([{"op": "remove", "path": "/owner"}])
    with pytest.raises(CosmosError, match="partition key"):
        apply_patch(patch, {"id": "1", "owner": {"id": "a"}}, "/owner/id")


def test_operations_follow_one_another_and_fail_together() -> None:
    result = changed({"op": "add", "path": "/m", "value": {}}, {"op": "add", "path": "/m/x", "value": 1})
    assert result["m"] == {"x": 1}
    with pytest.raises(CosmosError):
        changed({"op": "set", "path": "/n", "value": 2}, {"op": "remove", "path": "/missing"})
    assert DOCUMENT["n"] == 1


def test_a_patch_can_be_applied_again() -> None:
    nested: Json = {"list": []}
    patch = parse_patch([{"op": "add", "path": "/m", "value": nested}, {"op": "add", "path": "/m/list/-", "value": 1}])
    for _ in range(2):
        assert apply_patch(patch, DOCUMENT, "/k")["m"] == {"list": [1]}


def test_an_increment_beyond_every_double_is_400() -> None:
    huge = 1.7e308
    with pytest.raises(CosmosError, match="too large"):
        changed({"op": "set", "path": "/n", "value": huge}, {"op": "incr", "path": "/n", "value": huge})


def test_the_condition_decides_before_anything_is_changed() -> None:
    operation: JsonObject = {"op": "set", "path": "/n", "value": 2}
    assert changed(operation, condition="from c where c.n = 1")["n"] == 2
    assert changed(operation, condition="FROM root WHERE root.n = 1")["n"] == 2
    for condition in ("from c where c.n = 2", "from c where c.missing = 1", "from c where c.n"):
        with pytest.raises(CosmosError) as refused:
            changed(operation, condition=condition)
        assert refused.value.status == 412


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"operations": []},
        {"operations": {}},
        {"operations": [1]},
        {"operations": [{"op": "set", "path": "/n", "value": 1}] * 11},
        {"operations": [{"op": "set", "path": "/n", "value": 1}], "condition": 1},
        {"operations": [{"op": "set", "path": "/n", "value": 1}], "condition": "where c.n = 1"},
        {"operations": [{"op": "set", "path": "/n", "value": 1}], "condition": "from c where d.n = 1"},
        "text",
    ],
)
def test_a_malformed_patch_is_400(body: Json) -> None:
    with pytest.raises(CosmosError) as refused:
        parse_patch(body)
    assert refused.value.status == 400


def test_ten_operations_are_allowed_and_a_bare_list_will_do() -> None:
    patch = parse_patch([{"op": "incr", "path": "/n", "value": 1}] * 10)
    assert apply_patch(patch, DOCUMENT, "/k")["n"] == 11
