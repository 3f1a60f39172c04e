"""The lesson 'choosing': the exponential mechanism."""
