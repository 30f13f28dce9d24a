"""The message classes that the worker library constructs and reads, without protobuf.

The library takes them by name from an object that the host passes in, sets keyword arguments and reads
attributes. Only what HTTP and SDK-type triggers use is here; anything else (cookies, other bindings) fails
the invocation with an AttributeError that names it.
Source: azure-functions-runtime 1.3.0, handle_event.py, loader.py, functions.py, bindings/datumdef.py.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class RpcException:
    """An exception of the app or of the library."""

    message: str
    stack_trace: str = ""


@dataclass(frozen=True)
class StatusResult:
    """Success or failure of a request."""

    Failure: ClassVar[int] = 0
    Success: ClassVar[int] = 1

    status: int
    exception: RpcException | None = None


@dataclass(frozen=True)
class WorkerMetadata:
    """Names and versions of the worker."""

    runtime_name: str
    runtime_version: str
    worker_version: str
    worker_bitness: str
    custom_properties: Mapping[str, str]


@dataclass(frozen=True)
class WorkerInitResponse:
    """Answer to the initialisation, which indexes the app."""

    capabilities: Mapping[str, str]
    worker_metadata: WorkerMetadata
    result: StatusResult


@dataclass(frozen=True)
class BindingInfo:
    """One binding of a function; the class attributes are enumeration values of the protocol."""

    out: ClassVar[int] = 1
    inout: ClassVar[int] = 2
    undefined: ClassVar[int] = 0

    type: str
    data_type: int | None
    direction: int


@dataclass(frozen=True)
class RpcRetryOptions:
    """A function's retry policy; this host serves no trigger that has one."""

    max_retry_count: int
    retry_strategy: str
    delay_interval: object = None
    minimum_interval: object = None
    maximum_interval: object = None


@dataclass(frozen=True)
class RpcFunctionMetadata:
    """One indexed function."""

    name: str
    function_id: str
    managed_dependency_enabled: bool
    directory: str
    script_file: str
    entry_point: str
    is_proxy: bool
    language: str
    bindings: Mapping[str, BindingInfo]
    raw_bindings: Sequence[str]
    retry_options: RpcRetryOptions | None
    properties: Mapping[str, str]


@dataclass(frozen=True)
class FunctionMetadataResponse:
    """Answer to the request for all functions; None when the app registers nothing."""

    use_default_metadata_indexing: bool
    function_metadata_results: Sequence[RpcFunctionMetadata] | None
    result: StatusResult


class TypedData:
    """A value of one kind: ``TypedData(json="{}").WhichOneof("data")`` is ``"json"``."""

    def __init__(self, **value: object) -> None:
        (self._kind,) = value
        self.value = value[self._kind]

    def WhichOneof(self, group: str) -> str:  # noqa: N802 - the protocol's name
        """The kind that is set."""
        assert group == "data", group  # noqa: S101 - the protocol has this one group
        return self._kind

    def __getattr__(self, name: str) -> object:
        """The value under the name of its kind."""
        if name == self.__dict__.get("_kind"):
            return self.value
        raise AttributeError(name)


@dataclass(frozen=True)
class ParameterBinding:
    """A named value: the trigger's data."""

    name: str
    data: TypedData

    def WhichOneof(self, group: str) -> str:  # noqa: N802 - the protocol's name
        """Data always travels in the message, never in shared memory."""
        assert group == "rpc_data", group  # noqa: S101 - the protocol has this one group
        return "data"


@dataclass(frozen=True)
class RpcHttp:
    """An HTTP answer; ``status_code`` is text."""

    status_code: str
    headers: Mapping[str, str]
    cookies: None
    enable_content_negotiation: bool
    body: TypedData


@dataclass(frozen=True)
class InvocationResponse:
    """Answer to an invocation."""

    invocation_id: str
    result: StatusResult
    return_value: TypedData | None = None
    output_data: Sequence[ParameterBinding] = ()
