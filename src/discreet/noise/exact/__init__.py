"""Exact samplers and the certified arithmetic below them: tables, bounds of exp, coins, tails.

Only noise/ and its tests import from here.
"""
