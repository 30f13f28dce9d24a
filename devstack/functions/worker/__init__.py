"""The worker process: the real worker library behind a stream to the host.

Nothing here runs in the host. Read next: ``conversation.py``.
"""
