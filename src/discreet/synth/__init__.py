"""Synthetic data: workload, noisy marginals, model, rows."""
