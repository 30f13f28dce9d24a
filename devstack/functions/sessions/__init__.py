"""The Service Bus session trigger: one listener per function, many sessions, one message each."""
