"""AMQP 1.0 without IO: types and codec, message sections, performatives, and a connection engine.

Nothing here opens a socket, reads a clock or knows Service Bus.
Read next: `decode`, `encode`, `sections`, `connection`.
"""
