"""What answers each route: a request of the socket, and its answer as HTTP gives it."""
