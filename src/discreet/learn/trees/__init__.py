"""Models that add up small tables over several features: boosted trees from noisy histograms.

Only learn/ itself imports from here.
"""
