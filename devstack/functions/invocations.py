"""Run functions and report each run on the console, as the real host does."""

import logging
import time
import uuid
from typing import Final

from devstack.functions import wire
from devstack.functions.supervisor.supervisor import Supervisor
from devstack.functions.triggers import Function


class Invocations:
    """The way from a trigger to the worker."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor: Final = supervisor

    async def run(
        self,
        function: Function,
        data: wire.InputData,
        *,
        details: str = "",
        trace_parent: str = "",
        trace_state: str = "",
    ) -> wire.Outcome:
        """Run ``function`` once. ``details`` (ids only) join the console line of a failure."""
        invocation_id = str(uuid.uuid4())
        log = logging.getLogger(f"Function.{function.name}")
        log.info("Executing 'Functions.%s' (Id=%s)", function.name, invocation_id)
        started = time.monotonic()
        outcome = await self._supervisor.invoke(
            wire.Invoke(
                invocation_id=invocation_id,
                function_id=function.function_id,
                function_name=function.name,
                parameter=function.parameter,
                data=data,
                trace_parent=trace_parent,
                trace_state=trace_state,
            )
        )
        duration_ms = (time.monotonic() - started) * 1000
        match outcome:
            case wire.Succeeded():
                log.info(
                    "Executed 'Functions.%s' (Succeeded, Id=%s, Duration=%.0fms)",
                    function.name,
                    invocation_id,
                    duration_ms,
                )
            case wire.Failed(message, stack_trace):
                log.error(
                    "Executed 'Functions.%s' (Failed, Id=%s, Duration=%.0fms)%s\n%s",
                    function.name,
                    invocation_id,
                    duration_ms,
                    f"\nTrigger Details: {details}" if details else "",
                    stack_trace or message,
                )
        return outcome
