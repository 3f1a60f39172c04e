"""Recommendations from noisy means and a noisy covariance, one bounded vector for each person.

Imported by: api, learn/evaluation, learn/model_files, server, tasks.
"""
