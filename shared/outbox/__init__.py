"""Messages committed with the state change that they tell of."""
