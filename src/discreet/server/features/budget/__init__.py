"""What was spent, by whom, and what is left."""
