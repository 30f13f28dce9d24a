"""``python -m devstack.guarded MODULE ARGUMENT..``: run a module that stops when its starter is gone.

Its standard input must be a pipe whose write end the starter holds. At its end the process gets the SIGTERM
that the starter could not send; one that does not stop by that is ended.
"""

import os
import runpy
import signal
import sys
import time
from typing import Final

from devstack.parent_watch import on_parent_end

_CLEAN_STOP_SECONDS: Final = 20.0


def _stop() -> None:
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(_CLEAN_STOP_SECONDS)
    os._exit(1)


def main() -> None:
    """Watch the starter, and be the module."""
    on_parent_end(_stop)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
