"""Reconciling noisy tables of a family: least squares, whole numbers that add up, intervals.

All of it is post-processing of measurements that are public already. Used by publish's own modules.
"""
