"""What the app's functions ask to be triggered by, read from the raw bindings that the worker indexed."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from devstack.functions import wire


class UnsupportedBindingError(Exception):
    """A function has a binding that this host does not serve; the text names function and binding."""


class AuthLevel(StrEnum):
    """Who may call an HTTP function."""

    ANONYMOUS = "anonymous"
    FUNCTION = "function"
    ADMIN = "admin"


@dataclass(frozen=True, kw_only=True)
class Function:
    """Name, id and trigger parameter of one function."""

    name: str
    function_id: str
    parameter: str


@dataclass(frozen=True, kw_only=True)
class HttpTrigger:
    """An HTTP function; no ``methods`` means every method."""

    function: Function
    route: str
    methods: frozenset[str]
    auth_level: AuthLevel


@dataclass(frozen=True, kw_only=True)
class SessionTrigger:
    """A function that gets the messages of a session-enabled queue one by one.

    ``queue_name`` and ``connection`` are as written in the app, ``%NAME%`` unresolved.
    """

    function: Function
    queue_name: str
    connection: str
    auto_complete_messages: bool


@dataclass(frozen=True, kw_only=True)
class TimerTrigger:
    """A function that runs on a schedule, which is as written in the app."""

    function: Function
    schedule: str


type Trigger = HttpTrigger | SessionTrigger | TimerTrigger


def triggers_of(functions: Iterable[wire.FunctionMetadata]) -> list[Trigger]:
    """The trigger of each function.

    Raises:
        UnsupportedBindingError: a function needs what this host does not serve.
    """
    return [_trigger_of(function) for function in functions]


def _trigger_of(metadata: wire.FunctionMetadata) -> Trigger:
    trigger: Trigger | None = None
    for raw_binding in metadata.raw_bindings:
        binding = json.loads(raw_binding)
        match binding["type"]:
            case "httpTrigger":
                trigger = _http_trigger(_function(metadata, binding), binding)
            case "serviceBusTrigger":
                trigger = _session_trigger(_function(metadata, binding), binding)
            case "timerTrigger":
                if binding.get("runOnStartup"):
                    raise UnsupportedBindingError(f"function {metadata.name}: runOnStartup is not served")
                trigger = TimerTrigger(function=_function(metadata, binding), schedule=str(binding["schedule"]))
            case "http":
                continue
            case other:
                raise UnsupportedBindingError(
                    f"function {metadata.name}: binding type {other} is not served by the local host"
                )
    if trigger is None:
        raise UnsupportedBindingError(f"function {metadata.name}: it has no trigger")
    return trigger


def _function(metadata: wire.FunctionMetadata, binding: Mapping[str, str]) -> Function:
    return Function(name=metadata.name, function_id=metadata.function_id, parameter=binding["name"])


def _http_trigger(function: Function, binding: Mapping[str, object]) -> HttpTrigger:
    methods = binding.get("methods")
    return HttpTrigger(
        function=function,
        route=str(binding.get("route", function.name)),
        methods=frozenset(map(str, methods)) if isinstance(methods, list) else frozenset(),
        auth_level=AuthLevel(str(binding.get("authLevel", "function")).lower()),
    )


def _session_trigger(function: Function, binding: Mapping[str, object]) -> SessionTrigger:
    properties = binding.get("properties")
    served = {
        "queueName": "queueName" in binding,
        "isSessionsEnabled": binding.get("isSessionsEnabled") is True,
        "cardinality one": str(binding.get("cardinality", "one")).lower() == "one",
        "an SDK-type parameter": isinstance(properties, dict)
        and str(properties.get("SupportsDeferredBinding", "")).lower() == "true",
    }
    if missing := [name for name, is_met in served.items() if not is_met]:
        raise UnsupportedBindingError(
            f"function {function.name}: the local host serves Service Bus triggers with {', '.join(served)}; "
            f"this one lacks {', '.join(missing)}"
        )
    return SessionTrigger(
        function=function,
        queue_name=str(binding["queueName"]),
        connection=str(binding["connection"]),
        # Source: Service Bus extension, ServiceBusTriggerAttribute: on unless the binding says otherwise.
        auto_complete_messages=binding.get("autoCompleteMessages", True) is True,
    )
