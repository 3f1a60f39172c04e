"""Recommendations from noisy means and a noisy covariance, one bounded vector for each person.

Only learn/ itself and the front ends import from here.
"""
