"""One folder a lesson: `lesson.md`, `exercise.py`, a notebook of the same, and what can be moved in a browser.

They are found by their folders.
"""
