"""The app's business rules, pure: no Azure, no clock, no ids."""
