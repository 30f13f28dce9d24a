"""The part of host.json that this host obeys; other keys are accepted in silence, as on the real host.

``autoCompleteMessages`` is not read: on the real host the function's own binding outranks it always.
Sources: the host.json reference of Azure Functions 4 for keys and defaults; measured on host 4.1037.
"""

import json
import re
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final

_TIME_SPAN: Final = re.compile(
    r"(?:(?P<days>\d{1,8})\.)?(?P<hours>\d{1,2}):(?P<minutes>\d{1,2}):(?P<seconds>\d{1,2})(?:\.(?P<fraction>\d{1,7}))?"
)
_TRY_TIMEOUT_DEFAULT: Final = timedelta(minutes=1)


class HostJsonError(Exception):
    """host.json cannot be used; the text names the key and the rule."""


@dataclass(frozen=True, kw_only=True)
class HttpSettings:
    """extensions.http; None means without limit."""

    route_prefix: str
    requests_max: int | None
    outstanding_max: int | None


@dataclass(frozen=True, kw_only=True)
class ServiceBusSettings:
    """extensions.serviceBus."""

    sessions_max: int
    session_idle_timeout: timedelta
    lock_renewal_max: timedelta
    try_timeout: timedelta


@dataclass(frozen=True, kw_only=True)
class HostSettings:
    """host.json; ``function_timeout`` None means without limit."""

    function_timeout: timedelta | None
    http: HttpSettings
    service_bus: ServiceBusSettings


def read_host_json(path: Path) -> HostSettings:
    """Read and check the file.

    Raises:
        HostJsonError: it is missing, is no JSON object, or a value breaks its key's rule.
    """
    try:
        content = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise HostJsonError(f"{path}: the file is missing; a function app has one in its root") from None
    except ValueError as error:
        raise HostJsonError(f"{path}: not valid JSON: {error}") from error
    try:
        return _host_settings(_Section(content, ""))
    except HostJsonError as error:
        raise HostJsonError(f"{path}: {error}") from None


class _Section:
    """One JSON object and its place in the file."""

    def __init__(self, content: object, place: str) -> None:
        if not isinstance(content, dict):
            raise HostJsonError(f"{place or 'the file'}: must be a JSON object")
        self._content = content
        self._place = place

    def _key(self, name: str) -> str:
        return f"{self._place}.{name}" if self._place else name

    def section(self, name: str) -> "_Section":
        return _Section(self._content.get(name, {}), self._key(name))

    def text(self, name: str, default: str | None) -> str | None:
        value = self._content.get(name, default)
        if value is not None and not isinstance(value, str):
            raise HostJsonError(f"{self._key(name)}: must be a string, not {value!r}")
        return value

    def count(self, name: str, default: int) -> int:
        """A number of 1 or more, or -1 (without limit)."""
        value = self._content.get(name, default)
        if type(value) is not int or (value < 1 and value != -1):
            raise HostJsonError(f"{self._key(name)}: must be an integer of 1 or more, or -1, not {value!r}")
        return value

    def time_span(self, name: str, default: timedelta, *, zero: bool = False) -> timedelta:
        """[d.]hh:mm:ss[.fffffff], more than zero unless ``zero`` is allowed."""
        text = self.text(name, None)
        if text is None:
            return default
        match = _TIME_SPAN.fullmatch(text)
        if match is None or int(match["hours"]) > 23 or int(match["minutes"]) > 59 or int(match["seconds"]) > 59:
            raise HostJsonError(f"{self._key(name)}: must be a time span [d.]hh:mm:ss[.fffffff], not {text!r}")
        span = timedelta(
            days=int(match["days"] or 0),
            hours=int(match["hours"]),
            minutes=int(match["minutes"]),
            seconds=float(f"{match['seconds']}.{match['fraction'] or 0}"),
        )
        if not span and not zero:
            raise HostJsonError(f"{self._key(name)}: must be more than zero, not {text!r}")
        return span


def _host_settings(root: _Section) -> HostSettings:
    if root.text("version", None) != "2.0":
        raise HostJsonError('version: must be "2.0"')
    return HostSettings(
        function_timeout=_function_timeout(root),
        http=_http(root.section("extensions").section("http")),
        service_bus=_service_bus(root.section("extensions").section("serviceBus")),
    )


def _function_timeout(root: _Section) -> timedelta | None:
    if root.text("functionTimeout", None) == "-1":
        return None
    return root.time_span("functionTimeout", timedelta(minutes=30))


def _http(section: _Section) -> HttpSettings:
    prefix = section.text("routePrefix", "api") or ""
    return HttpSettings(
        route_prefix=prefix.strip("/"),
        requests_max=_limit(section.count("maxConcurrentRequests", -1)),
        outstanding_max=_limit(section.count("maxOutstandingRequests", -1)),
    )


def _limit(count: int) -> int | None:
    return None if count == -1 else count


def _service_bus(section: _Section) -> ServiceBusSettings:
    sessions_max = section.count("maxConcurrentSessions", 8)
    if sessions_max == -1:
        raise HostJsonError("extensions.serviceBus.maxConcurrentSessions: must be an integer of 1 or more, not -1")
    try_timeout = section.section("clientRetryOptions").time_span("tryTimeout", _TRY_TIMEOUT_DEFAULT)
    return ServiceBusSettings(
        sessions_max=sessions_max,
        session_idle_timeout=section.time_span("sessionIdleTimeout", try_timeout),
        lock_renewal_max=section.time_span("maxAutoLockRenewalDuration", timedelta(minutes=5), zero=True),
        try_timeout=try_timeout,
    )
