"""How well a model does: predictions, public and paid tests, subgroups.

Imported by: api, attack, cli, course, learn, learn/adversarial, learn/estimators, tasks.
"""
