"""What a statement does with noisy results and public tables: told apart here from what reads people.

Nothing in here reaches a private row.

Imported by: release.
"""
