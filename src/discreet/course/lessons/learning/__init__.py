"""The lesson 'learning': models remember."""
