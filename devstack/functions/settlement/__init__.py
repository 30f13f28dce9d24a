"""The Settlement gRPC service that the app's worker calls, and the messages that it can settle."""
