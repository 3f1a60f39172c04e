"""Estimators with scikit-learn's habits: fit, predict, score, get_params; each fit charges a ledger first.

`discreet.learn` shows them.

Imported by: learn.
"""
