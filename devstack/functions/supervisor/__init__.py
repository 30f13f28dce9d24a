"""The host's side of the worker process: start it, talk to it, start it again when it dies."""
