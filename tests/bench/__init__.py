"""Benchmarks: that each still measures."""
