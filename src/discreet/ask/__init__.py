"""A question's way from its text to its answer."""
