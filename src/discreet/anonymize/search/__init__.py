"""The search for the cheapest allowed generalisation: lattice, Mondrian, local recoding.

Only anonymize/ imports from here.
"""
