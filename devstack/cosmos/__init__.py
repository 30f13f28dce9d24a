"""Cosmos DB emulator: the REST protocol of Azure Cosmos DB for NoSQL on SQLite.

The unmodified SDKs run against it over plain http. Read next: README.md, then ``wire/gateway.py``.
"""
