"""Calls into the worker library, in the shapes that it reads.

Source: azure-functions-runtime 1.3.0, handle_event.py.
"""

from types import SimpleNamespace
from typing import assert_never

import azure_functions_runtime as runtime

from devstack.functions import wire
from devstack.functions.worker import protos


def _request(kind: str, **fields: object) -> SimpleNamespace:
    return SimpleNamespace(
        request=SimpleNamespace(**{kind: SimpleNamespace(**fields)}),
        properties={"host": "127.0.0.1", "protos": protos},
    )


async def index(app_directory: str) -> wire.Indexed | wire.IndexingFailed:
    """Import the app and index its functions; the library does both while it initialises."""
    runtime.start_threadpool_executor()
    initialised: protos.WorkerInitResponse = await runtime.worker_init_request(
        _request("worker_init_request", capabilities={}, function_app_directory=app_directory)
    )
    if (error := initialised.result.exception) is not None:
        return wire.IndexingFailed(message=error.message, stack_trace=error.stack_trace)
    response: protos.FunctionMetadataResponse = await runtime.functions_metadata_request(
        _request("functions_metadata_request")
    )
    return wire.Indexed(
        functions=tuple(
            wire.FunctionMetadata(
                name=function.name,
                function_id=function.function_id,
                raw_bindings=tuple(function.raw_bindings),
            )
            for function in response.function_metadata_results or ()
        )
    )


async def invoke(call: wire.Invoke) -> wire.Outcome:
    """Run one function."""
    response: protos.InvocationResponse = await runtime.invocation_request(
        _request(
            "invocation_request",
            invocation_id=call.invocation_id,
            function_id=call.function_id,
            input_data=[protos.ParameterBinding(name=call.parameter, data=_typed_data(call.data))],
            trigger_metadata={},
            trace_context=SimpleNamespace(trace_parent=call.trace_parent, trace_state=call.trace_state, attributes={}),
            retry_context=SimpleNamespace(retry_count=0, max_retry_count=0, exception=None),
        )
    )
    if (error := response.result.exception) is not None:
        return wire.Failed(message=error.message, stack_trace=error.stack_trace)
    if response.return_value is None:
        return wire.Succeeded()
    return _with_response(response.return_value)


def _typed_data(data: wire.InputData) -> protos.TypedData:
    match data:
        case wire.HttpRequestData():
            return protos.TypedData(
                http=SimpleNamespace(
                    method=data.method,
                    url=data.url,
                    headers=data.headers,
                    params=data.params,
                    query=data.query,
                    body=protos.TypedData(bytes=data.body),
                )
            )
        case wire.ModelBindingData():
            return protos.TypedData(model_binding_data=data)
        case wire.JsonData(text):
            return protos.TypedData(json=text)
        case _:
            assert_never(data)


def _with_response(returned: protos.TypedData) -> wire.Outcome:
    match returned.value:
        case protos.RpcHttp() as answer:
            body = answer.body.value
            return wire.Succeeded(
                response=wire.HttpResponseData(
                    status=int(answer.status_code),
                    headers=dict(answer.headers),
                    body=body if isinstance(body, bytes) else str(body).encode(),
                )
            )
        case str() as text:
            return wire.Succeeded(
                response=wire.HttpResponseData(
                    status=200, headers={"content-type": "text/plain; charset=utf-8"}, body=text.encode()
                )
            )
        case other:
            return wire.Failed(message=f"TypeError: a function cannot return {type(other).__name__} here")
