"""One signed-in session: statements, portals, cursors, settings and questions.

Only pgwire/ imports from here.
"""
