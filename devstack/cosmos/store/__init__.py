"""The store: databases, containers and items in one SQLite database with a single writer."""
