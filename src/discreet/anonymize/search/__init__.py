"""The search for the cheapest allowed generalisation: lattice, Mondrian, local recoding.

Imported by: anonymize, attack.
"""
