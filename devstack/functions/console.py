"""The console of the host: one line per record on standard error, ``time LEVEL Category: text``.

Categories are the real host's: ``Function.<name>.User`` for what the app logs, ``Function.<name>`` for its
runs, ``Host.Function.Console`` for what it prints, ``Host.*`` for the host itself.
"""

import logging
import sys
import time


def log_to_console() -> None:
    """Send all records from INFO on to standard error, in UTC."""
    formatter = logging.Formatter(
        "%(asctime)s.%(msecs)03dZ %(levelname)s %(name)s: %(message)s", datefmt="%Y-%m-%dT%H:%M:%S"
    )
    formatter.converter = time.gmtime
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    logging.basicConfig(level=logging.INFO, handlers=[handler])
