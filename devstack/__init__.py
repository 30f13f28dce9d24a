"""The local stack: Service Bus, Cosmos DB and Functions on one machine. Read next: README.md."""
