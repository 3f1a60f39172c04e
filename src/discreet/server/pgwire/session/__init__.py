"""One signed-in session: statements, portals, cursors, settings and questions.

Imported by: server/pgwire.
"""
