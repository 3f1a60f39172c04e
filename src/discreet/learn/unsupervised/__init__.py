"""What is learned without a target: means and spreads, main directions, clusters.

Only learn/ itself imports from here.
"""
