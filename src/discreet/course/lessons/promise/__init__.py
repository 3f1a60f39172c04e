"""The lesson 'promise': what epsilon promises, and what not."""
