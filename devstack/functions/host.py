"""The host: what is started, and in which order it stops.

Start: gRPC endpoint, worker (which indexes the app), HTTP port, session listeners. Stop: the port and the
listeners take nothing new; what runs may finish within 10 s; then links, worker and endpoint go.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import grpc

from devstack.control import serve_control
from devstack.functions import wire
from devstack.functions.faults import HostFaults
from devstack.functions.host_json import HostSettings, read_host_json
from devstack.functions.http.front import HttpFront
from devstack.functions.http.routes import RouteTable
from devstack.functions.invocations import Invocations
from devstack.functions.sessions.listener import SessionListener
from devstack.functions.settlement.deliveries import RunningDeliveries
from devstack.functions.settlement.service import SettlementService
from devstack.functions.supervisor.channel import WorkerStreams
from devstack.functions.supervisor.supervisor import Supervisor
from devstack.functions.timers.timer import Timer
from devstack.functions.triggers import HttpTrigger, SessionTrigger, TimerTrigger, Trigger, triggers_of

# Source: measured on Azure Functions host 4.1037, which gives the worker's invocations 10 s at shutdown.
_IN_FLIGHT_SECONDS: Final = 10.0


class NoFunctionsError(Exception):
    """The app registers no function, or its directory has no function_app.py."""


@dataclass(frozen=True, kw_only=True)
class HostOptions:
    """The app's directory, where to listen (port 0: a free one), and the key that opens every function.

    `control_port`: where faults are taken, on loopback; None for nowhere.
    """

    app: Path
    host: str
    port: int
    key: str
    control_port: int | None


@dataclass(frozen=True, kw_only=True)
class Ready:
    """Where the app is served, its functions' names, and the URL of the control API if there is one."""

    port: int
    functions: tuple[str, ...]
    control: str | None


async def serve(options: HostOptions, app_settings: Mapping[str, str], announce: Callable[[Ready], None]) -> None:
    """Serve the app until cancelled (a clean stop), or until the worker crashed too often (return).

    ``announce`` is called once, when the app is indexed, the port open and every listener connected.

    Raises:
        HostJsonError, SettingError, UnsupportedBindingError, NoFunctionsError, AppError, PortTakenError: the
            app or a setting must be mended; the text says how.
    """
    settings = read_host_json(options.app / "host.json")
    deliveries, streams = RunningDeliveries(), WorkerStreams()
    async with AsyncExitStack() as cleanup:
        endpoint_port = await _start_endpoint(streams, deliveries, cleanup)
        supervisor = Supervisor(
            streams=streams,
            port=endpoint_port,
            app=options.app,
            environment=app_settings,
            function_timeout_seconds=(
                None if settings.function_timeout is None else settings.function_timeout.total_seconds()
            ),
        )
        cleanup.push_async_callback(supervisor.stop)
        triggers = _triggers(await supervisor.start(), options.app)
        invocations = Invocations(supervisor)
        listeners = _listeners(triggers, settings, app_settings, invocations, deliveries)
        timers = [
            Timer(trigger, app_settings=app_settings, invocations=invocations, state=options.app / ".devstack")
            for trigger in triggers
            if isinstance(trigger, TimerTrigger)
        ]
        front = _front(triggers, settings, invocations, options.key)
        cleanup.push_async_callback(_stop, front, listeners, timers, supervisor)
        port = await front.start(options.host, options.port)
        failed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def fail(error: BaseException) -> None:
            if not failed.done():
                failed.set_exception(error)

        for listener in listeners:
            await listener.start(fail)
        for timer in timers:
            timer.start(fail)
        control = None
        if options.control_port is not None:
            control = await cleanup.enter_async_context(serve_control(HostFaults(listeners), options.control_port))
        names = tuple(trigger.function.name for trigger in triggers)
        announce(Ready(port=port, functions=names, control=control))
        await _until_recycled(supervisor, failed)


async def _start_endpoint(streams: WorkerStreams, deliveries: RunningDeliveries, cleanup: AsyncExitStack) -> int:
    """The worker's gRPC endpoint: its stream, and the Settlement service for the app."""
    endpoint = grpc.aio.server(options=wire.CHANNEL_OPTIONS)
    endpoint.add_generic_rpc_handlers((streams.handler(), SettlementService(deliveries).handler()))
    port: int = endpoint.add_insecure_port("127.0.0.1:0")
    await endpoint.start()
    cleanup.push_async_callback(endpoint.stop, None)
    return port


def _triggers(functions: Sequence[wire.FunctionMetadata], app: Path) -> list[Trigger]:
    if not functions:
        raise NoFunctionsError(f"{app / 'function_app.py'}: the file is missing or registers no function")
    return triggers_of(functions)


def _listeners(
    triggers: Sequence[Trigger],
    settings: HostSettings,
    app_settings: Mapping[str, str],
    invocations: Invocations,
    deliveries: RunningDeliveries,
) -> list[SessionListener]:
    return [
        SessionListener(
            trigger,
            settings=settings.service_bus,
            app_settings=app_settings,
            invocations=invocations,
            deliveries=deliveries,
        )
        for trigger in triggers
        if isinstance(trigger, SessionTrigger)
    ]


def _front(triggers: Sequence[Trigger], settings: HostSettings, invocations: Invocations, key: str) -> HttpFront:
    http_triggers = [trigger for trigger in triggers if isinstance(trigger, HttpTrigger)]
    return HttpFront(
        routes=RouteTable(http_triggers, settings.http.route_prefix),
        invocations=invocations,
        settings=settings.http,
        key=key,
    )


async def _until_recycled(supervisor: Supervisor, failed: asyncio.Future[None]) -> None:
    await asyncio.wait([supervisor.recycled, failed], return_when=asyncio.FIRST_COMPLETED)
    for ended in (supervisor.recycled, failed):
        if ended.done():
            ended.result()


async def _stop(
    front: HttpFront, listeners: Sequence[SessionListener], timers: Sequence[Timer], supervisor: Supervisor
) -> None:
    front_closed = asyncio.create_task(front.close())
    in_flight: list[asyncio.Task[None]] = [
        front_closed,
        *(asyncio.create_task(listener.finish()) for listener in listeners),
        *(asyncio.create_task(timer.finish()) for timer in timers),
    ]
    await asyncio.wait(in_flight, timeout=_IN_FLIGHT_SECONDS)
    # First the links: a message whose worker is ended here is neither completed nor abandoned.
    await asyncio.gather(*(listener.close() for listener in listeners))
    for timer in timers:
        timer.close()
    await supervisor.stop()
    await front_closed
