"""Representations trained to hide an attribute: on public rows, and without any guarantee.

Commands import from here. Nothing here is private, and the reports say so.
"""
