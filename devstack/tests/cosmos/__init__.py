"""Tests of the Cosmos DB emulator."""
