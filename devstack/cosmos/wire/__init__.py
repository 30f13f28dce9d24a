"""The wire: authentication, routing, headers, bodies and errors of the REST protocol."""
