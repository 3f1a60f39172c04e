"""From noisy marginals to models: entropy, belief passing, descent. Post-processing only.

Imported by: synth/methods, synth/models.
"""
