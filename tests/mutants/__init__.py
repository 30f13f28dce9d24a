"""Mutants: rules taken out of the product, each of which a test must notice. `python -m tests.mutants --list`."""
