"""Random kills, faults and duplicates for a stated time, against a model: `python3 dev.py test --soak MINUTES`."""
