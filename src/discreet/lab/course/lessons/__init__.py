"""One folder a lesson: `lesson.md`, a notebook of the same, and what can be moved in a browser; beside it a module of its name.

The module has the exercise, and works out the figures that are kept. Lessons are found by their folders.
"""
