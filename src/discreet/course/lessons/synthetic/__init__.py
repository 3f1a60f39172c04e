"""The lesson 'synthetic': made-up rows."""
