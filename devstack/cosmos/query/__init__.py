"""Single-partition queries: a pure subset of Cosmos DB SQL (text -> syntax tree -> pages of results)."""
