"""What agents' programs tell siftd, and how: a room for each client, and what all of them share."""
