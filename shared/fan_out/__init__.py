"""Messages that hold messages: each of those sent on, in order, with the place recorded."""
