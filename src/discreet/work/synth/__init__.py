"""Synthetic data: workload, noisy marginals, model, rows.

Imported by: cli, curator, lab, server, tasks, work/learn.
"""
