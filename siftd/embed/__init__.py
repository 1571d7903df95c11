"""What turns text into words and vectors. Nothing is imported here: numpy waits until a vector is wanted."""
