"""End a process when the process that started it is gone.

The parent holds the write end of the child's standard input and never writes. The pipe is at end of file
as soon as the parent is dead, also after ``kill -9``, where no handler of the parent's can run.
"""

import os
import threading
from collections.abc import Callable


def on_parent_end(action: Callable[[], None]) -> None:
    """Call ``action`` on a thread of its own when standard input ends.

    Standard input is then taken: the process reads /dev/null instead. A thread, because it also runs while
    the event loop is blocked.
    """
    pipe = os.dup(0)
    os.set_inheritable(pipe, False)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)

    def watch() -> None:
        while os.read(pipe, 4096):
            pass
        action()

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
