"""What is learned without a target: means and spreads, main directions, clusters.

Imported by: learn/estimators.
"""
