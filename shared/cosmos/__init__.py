"""The store on Azure Cosmos DB: client, reads and commits, and what its answers mean."""
