"""The lesson 'consistency': numbers that agree."""
