"""Which function a request is for.

Routes are ``literal`` and ``{parameter}`` segments; the last parameter may be optional (``{name?}``).
Literals are compared without case, a trailing slash is accepted. A wrong method is no
match: the answer is 404.
Source: measured on Azure Functions host 4.1037; ASP.NET Core route templates.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from devstack.functions.triggers import HttpTrigger, UnsupportedBindingError

_PARAMETER: Final = re.compile(r"\{(?P<name>\w+)(?P<optional>\?)?\}")
_ENCODED_SLASH: Final = re.compile("%2f", re.IGNORECASE)


@dataclass(frozen=True)
class _Literal:
    text: str


@dataclass(frozen=True)
class _Parameter:
    name: str
    optional: bool


@dataclass(frozen=True)
class RouteMatch:
    """The function of a request and its decoded route parameters."""

    trigger: HttpTrigger
    parameters: dict[str, str]


@dataclass(frozen=True)
class _Route:
    trigger: HttpTrigger
    segments: tuple[_Literal | _Parameter, ...]

    def parameters(self, path: list[str]) -> dict[str, str] | None:
        """The parameters of a matching path, None when it does not match."""
        if len(path) > len(self.segments):
            return None
        found = dict[str, str]()
        for index, segment in enumerate(self.segments):
            part = path[index] if index < len(path) else None
            match segment, part:
                case _Parameter(optional=True), None:
                    continue
                case _Parameter(name), str(value) if value:
                    found[name] = _decoded(value)
                case _Literal(text), str(value) if _decoded(value).lower() == text.lower():
                    continue
                case _:
                    return None
        return found


class RouteTable:
    """The routes of an app, literals before parameters."""

    def __init__(self, triggers: Iterable[HttpTrigger], route_prefix: str) -> None:
        """Read the routes.

        Raises:
            UnsupportedBindingError: a route begins with ``admin`` or has a segment of another form.
        """
        routes = [_Route(trigger, _segments(trigger, route_prefix)) for trigger in triggers]
        self._routes = sorted(routes, key=lambda route: [isinstance(segment, _Parameter) for segment in route.segments])

    def match(self, method: str, raw_path: str) -> RouteMatch | None:
        """The function for a method and a path as it stood in the request line, still percent-encoded."""
        path = raw_path.strip("/").split("/")
        for route in self._routes:
            if route.trigger.methods and method not in route.trigger.methods:
                continue
            parameters = route.parameters(path)
            if parameters is not None:
                return RouteMatch(route.trigger, parameters)
        return None


def _decoded(segment: str) -> str:
    # An encoded slash stays encoded, so that a value cannot become two segments.
    return "%2F".join(unquote(part) for part in _ENCODED_SLASH.split(segment))


def _segments(trigger: HttpTrigger, route_prefix: str) -> tuple[_Literal | _Parameter, ...]:
    parts = trigger.route.strip("/").split("/")
    where = f"function {trigger.function.name}: route {trigger.route!r}"
    if parts[0].lower() == "admin":
        raise UnsupportedBindingError(f"{where} must not begin with admin")
    segments = list[_Literal | _Parameter](_Literal(part) for part in route_prefix.split("/") if part)
    for index, part in enumerate(parts):
        parameter = _PARAMETER.fullmatch(part)
        if parameter is not None:
            is_optional = parameter["optional"] is not None
            if is_optional and index != len(parts) - 1:
                raise UnsupportedBindingError(f"{where}: only the last parameter can be optional")
            segments.append(_Parameter(parameter["name"], is_optional))
        elif "{" in part or not part:
            raise UnsupportedBindingError(
                f"{where}: segment {part!r} is not served by the local host; use text or {{name}}"
            )
        else:
            segments.append(_Literal(part))
    return tuple(segments)
