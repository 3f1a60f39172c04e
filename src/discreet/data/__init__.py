"""Where the rows are, and what their owner declared about them."""
