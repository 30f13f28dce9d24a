import pytest

from devstack.functions.http.routes import RouteMatch, RouteTable
from devstack.functions.triggers import AuthLevel, Function, HttpTrigger, UnsupportedBindingError


def http(name: str, route: str, *methods: str) -> HttpTrigger:
    return HttpTrigger(
        function=Function(name=name, function_id=name, parameter="req"),
        route=route,
        methods=frozenset(methods),
        auth_level=AuthLevel.FUNCTION,
    )


TABLE = RouteTable(
    [
        http("order", "orders/{orderId}", "GET"),
        http("newest", "orders/newest", "GET"),
        http("place", "orders", "POST"),
        http("operation", "orders/{orderId}/operations/{operationId}", "GET"),
        http("search", "search/{word?}"),
    ],
    "api",
)


def found(match: RouteMatch | None) -> tuple[str, dict[str, str]] | None:
    return None if match is None else (match.trigger.function.name, match.parameters)


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/api/orders/A1", ("order", {"orderId": "A1"})),
        ("GET", "/API/Orders/A1/", ("order", {"orderId": "A1"})),
        ("GET", "/api/orders/newest", ("newest", {})),
        ("POST", "/api/orders", ("place", {})),
        ("GET", "/api/orders/A/operations/B", ("operation", {"orderId": "A", "operationId": "B"})),
        ("GET", "/api/orders/a%20b", ("order", {"orderId": "a b"})),
        ("GET", "/api/orders/a%2fb", ("order", {"orderId": "a%2Fb"})),
        ("DELETE", "/api/search", ("search", {})),
        ("GET", "/api/search/x", ("search", {"word": "x"})),
        ("GET", "/api/orders", None),
        ("HEAD", "/api/orders/A1", None),
        ("OPTIONS", "/api/orders", None),
        ("GET", "/orders/A1", None),
        ("GET", "/api/orders/A/operations", None),
        ("GET", "/api/orders//operations/B", None),
        ("GET", "/", None),
    ],
)
def test_match(method: str, path: str, expected: tuple[str, dict[str, str]] | None) -> None:
    assert found(TABLE.match(method, path)) == expected


def test_without_prefix() -> None:
    assert found(RouteTable([http("live", "live")], "").match("GET", "/live")) == ("live", {})


@pytest.mark.parametrize(
    ("route", "rule"),
    [
        ("admin/orders", "must not begin with admin"),
        ("{a?}/b", "only the last parameter can be optional"),
        ("orders/{id:int}", "segment '{id:int}' is not served"),
        ("orders/{*rest}", "is not served"),
        ("a//b", "segment '' is not served"),
    ],
)
def test_other_routes_are_refused(route: str, rule: str) -> None:
    with pytest.raises(UnsupportedBindingError, match="function f: route") as raised:
        RouteTable([http("f", route)], "api")
    assert rule in str(raised.value)
