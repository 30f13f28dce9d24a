"""Sample orders, and the demo that sends them: an outside client that knows the product by its wire alone."""
