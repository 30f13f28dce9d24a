"""Contracts of the ports, each held against every implementation."""
