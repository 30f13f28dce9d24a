"""Azure Service Bus on a bare machine: real AMQP 1.0, for the unmodified SDKs. Read next: README.md."""
