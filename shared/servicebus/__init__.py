"""Azure Service Bus inside Azure Functions: trigger binding, envelope, settlement, sender."""
