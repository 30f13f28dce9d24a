"""Faults that a test asks for: which requests they meet, and what becomes of those."""
