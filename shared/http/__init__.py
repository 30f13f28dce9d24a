"""HTTP answers that follow the standards, without knowing a web framework."""
