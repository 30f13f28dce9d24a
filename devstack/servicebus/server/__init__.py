"""The broker on a socket: asyncio transport, `$cbs`, entities and `$management`.

Read next: `listener`, then `connection`, `attaching` and the endpoints.
"""
