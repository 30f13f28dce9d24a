"""A small Azure Functions host for one machine.

It drives the unmodified Python worker library in a child process and serves HTTP and Service Bus session
triggers. Read next: ``host.py`` (what is started, and in which order it stops).
"""
