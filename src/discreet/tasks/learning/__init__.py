"""What `discreet learn` does, one file a use case: refuse first, then pay, keep, test, and keep what the test says.

Imported by: cli, tasks.
"""
