"""The reusable core: effectively-once consumers on Service Bus sessions and Cosmos DB. It knows no order.

Read next: `consumers` (how a consumer is registered), `idempotency.engine` (what happens to a delivery).
"""
