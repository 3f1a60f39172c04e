"""From noisy marginals to models: entropy, belief passing, descent. Post-processing only.

Methods import from here.
"""
