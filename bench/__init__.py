"""How fast it is, and what limits it: one module per benchmark, each with a `run` that yields its figures.

    python3 dev.py bench --list
    python3 dev.py bench engine new_orders

Figures of different runs do not compare: what counts are ratios within one run. docs/performance.md has the figures of
one machine, with what limits each.
"""
