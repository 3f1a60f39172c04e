"""Works that are paid for once: copies, models and packages."""
