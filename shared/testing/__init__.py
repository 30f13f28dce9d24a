"""The shipped test kit: a memory store held to the store contract, a manual clock, enumerated crash points."""
