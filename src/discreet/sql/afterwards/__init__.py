"""What a statement does with noisy results and public tables: told apart here from what reads people.

Imported by the release room only. Nothing in here reaches a private row.
"""
