"""The broker core: queues, sessions, locks, dead letters. No IO, no protocol; clock and ids are injected.

Read next: `broker`, then `queue`, `plain_queue`, `session_queue`.
"""
