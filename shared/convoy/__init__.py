"""Messages of one partition in exactly their sequence: parking what comes early, draining what falls due."""
