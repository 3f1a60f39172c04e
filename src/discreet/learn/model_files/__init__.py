"""Trained models as files: JSON, zip, model card.

Imported by: cli, client, learn, server, tasks.
"""
