"""What a statement does with noisy results and public tables: told apart here from what reads people.

Imported by the release package only. Nothing in here reaches a private row.
"""
