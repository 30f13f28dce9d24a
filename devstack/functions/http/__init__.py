"""The HTTP front: routes, keys, limits and the exact answers of the real host."""
