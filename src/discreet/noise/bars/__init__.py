"""Error bars that follow from noise laws: spreads, quotients, proportions. Statistics without dice.

Anybody who shows a noisy number may import from here.
"""
