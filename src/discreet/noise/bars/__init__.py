"""Error bars that follow from noise laws: spreads, quotients, proportions. Statistics without dice.

Imported by: attack, course, learn, release, testing.
"""
