"""Attacks, the course and the made-up town they use.

Imported by: cli, server, tasks.
"""
