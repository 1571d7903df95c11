"""The laptop's side of a team: joining, telling what is shared, applying what others tell to the replica."""
