"""The lesson 'mistakes': a quiz of textbook mistakes."""
