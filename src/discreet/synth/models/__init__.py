"""Models that rows are drawn from: chains of conditional tables, junction trees, mixtures.

Methods fit them; post-processing only.
"""
