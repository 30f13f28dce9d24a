"""The messages between the host and its worker process, and their codec.

Both sides import this module. Bodies are bytes, so the codec is MessagePack.
"""

from typing import Final

import msgspec

METHOD: Final = "/devstack.functions.Worker/Converse"
UNLIMITED: Final = -1
CHANNEL_OPTIONS: Final = (
    ("grpc.max_receive_message_length", UNLIMITED),
    ("grpc.max_send_message_length", UNLIMITED),
    # The host is on loopback: a proxy from the environment must not get in between.
    ("grpc.enable_http_proxy", 0),
)


class HttpRequestData(msgspec.Struct, frozen=True, tag=True):
    """An HTTP request as the worker library reads it."""

    method: str
    url: str
    headers: dict[str, str]
    params: dict[str, str]
    query: dict[str, str]
    body: bytes


class ModelBindingData(msgspec.Struct, frozen=True, tag=True):
    """The content of an SDK-type binding."""

    version: str
    source: str
    content_type: str
    content: bytes


class JsonData(msgspec.Struct, frozen=True, tag=True):
    """The content of a binding that is plain JSON."""

    text: str


type InputData = HttpRequestData | ModelBindingData | JsonData


class HttpResponseData(msgspec.Struct, frozen=True, tag=True):
    """An HTTP answer of a function."""

    status: int
    headers: dict[str, str]
    body: bytes


class FunctionMetadata(msgspec.Struct, frozen=True):
    """One indexed function; ``raw_bindings`` are JSON objects as in function.json."""

    name: str
    function_id: str
    raw_bindings: tuple[str, ...]


class Succeeded(msgspec.Struct, frozen=True, tag=True):
    """The function returned; ``response`` is set for HTTP functions."""

    response: HttpResponseData | None = None


class Failed(msgspec.Struct, frozen=True, tag=True):
    """The function raised, its answer was unusable, or its worker died."""

    message: str
    stack_trace: str = ""


type Outcome = Succeeded | Failed


class Initialize(msgspec.Struct, frozen=True, tag=True):
    """Host to worker: import and index the app."""

    app_directory: str


class Invoke(msgspec.Struct, frozen=True, tag=True):
    """Host to worker: run one function."""

    invocation_id: str
    function_id: str
    function_name: str
    parameter: str
    data: InputData
    trace_parent: str = ""
    trace_state: str = ""


class Hello(msgspec.Struct, frozen=True, tag=True):
    """Worker to host: the first message of a stream; an unknown id is a worker of an earlier start."""

    worker_id: str


class Indexed(msgspec.Struct, frozen=True, tag=True):
    """Worker to host: the functions that the app registers."""

    functions: tuple[FunctionMetadata, ...]


class IndexingFailed(msgspec.Struct, frozen=True, tag=True):
    """Worker to host: the app cannot be imported or indexed."""

    message: str
    stack_trace: str


class Completed(msgspec.Struct, frozen=True, tag=True):
    """Worker to host: an invocation ended."""

    invocation_id: str
    outcome: Outcome


class Log(msgspec.Struct, frozen=True, tag=True):
    """Worker to host: a log record, as text alone; ``function`` is None outside an invocation."""

    function: str | None
    level: int
    text: str


type HostMessage = Initialize | Invoke
type WorkerMessage = Hello | Indexed | IndexingFailed | Completed | Log


def printable(text: str) -> str:
    """The text with lone surrogates replaced: no UTF-8 carries them, and what an app logs may hold them."""
    return text.encode("utf-8", "replace").decode("utf-8")


encode: Final = msgspec.msgpack.Encoder().encode
decode_host_message: Final = msgspec.msgpack.Decoder[HostMessage](HostMessage).decode
decode_worker_message: Final = msgspec.msgpack.Decoder[WorkerMessage](WorkerMessage).decode
