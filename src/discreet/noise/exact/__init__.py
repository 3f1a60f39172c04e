"""Exact samplers and the certified arithmetic below them: tables, bounds of exp, coins, tails.

Imported by: noise, noise/laws, survey, synth, testing.
"""
