"""Ledgers: many orders' operations in one file, sent on to a session per order."""
