"""A model as a release: its text, its zip and its card.

Imported by: cli, client, learn, server, tasks.
"""
