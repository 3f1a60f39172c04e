"""How well a model does: predictions, public and paid tests, subgroups.

learn/, commands and server import from here.
"""
