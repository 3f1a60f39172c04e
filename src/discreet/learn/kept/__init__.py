"""A model as a release: its text, its zip and its card.

learn/, commands and server import from here.
"""
