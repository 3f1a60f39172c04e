"""SQL text to plan, and plan to SQL."""
