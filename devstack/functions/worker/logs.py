"""Send log records of the app to the host.

As on the real host, the text is all that arrives: no extras, no logger name. So ids must stand in the text.
Source: measured on Azure Functions host 4.1037.
"""

import contextvars
import logging
from collections.abc import Callable
from typing import Final

from azure_functions_runtime import invocation_id_cv

from devstack.functions.wire import Log, printable

# Set per invocation; tasks that the function starts inherit it.
running_function: Final = contextvars.ContextVar[str | None]("running_function", default=None)

# The library's own chatter ("Function name: ..") does not reach the real host's console either.
_LIBRARY_LOGGERS: Final = ("azure.functions", "azure_functions_runtime")


class HostLogHandler(logging.Handler):
    """Hands each record to ``post`` as text, with the traceback if it has one."""

    def __init__(self, post: Callable[[Log], None], function_of: Callable[[str], str | None]) -> None:
        """``function_of`` maps an invocation id to its function, for records of pool threads."""
        super().__init__(logging.INFO)
        self._post = post
        self._function_of = function_of
        self.setFormatter(logging.Formatter("%(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Post the record."""
        try:
            text = self.format(record)
        except Exception:  # noqa: BLE001 - any argument's __str__ may raise; logging's own rule applies
            self.handleError(record)
            return
        self._post(Log(function=self._function(), level=record.levelno, text=printable(text)))

    def _function(self) -> str | None:
        # A pool thread has no context of its invocation, only the library's variable.
        invocation_id: str | None = invocation_id_cv.get()
        if invocation_id is not None:
            return self._function_of(invocation_id)
        return running_function.get()


def forward_to_host(handler: HostLogHandler) -> None:
    """Make ``handler`` the root handler, at level INFO: debug records are hidden, as on Azure."""
    root = logging.getLogger()
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    for name in _LIBRARY_LOGGERS:
        logging.getLogger(name).setLevel(logging.WARNING)
