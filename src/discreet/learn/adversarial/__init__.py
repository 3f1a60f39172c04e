"""Representations trained to hide an attribute: on public rows, and without any guarantee.

Nothing here is private, and the reports say so.

Imported by: cli.
"""
