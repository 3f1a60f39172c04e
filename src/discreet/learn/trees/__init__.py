"""Models that add up small tables over several features: boosted trees from noisy histograms.

Imported by: learn.
"""
