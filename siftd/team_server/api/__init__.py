"""What answers each route: a function of the store, and its answer as HTTP gives it."""
