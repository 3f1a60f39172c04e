"""Synthetic data: workload, noisy marginals, model, rows.

Imported by: api, attack, cli, client, learn, server, tasks.
"""
