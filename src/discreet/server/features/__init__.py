"""One folder for each thing that the server offers: its body, work, routes and pages.

server/feature finds each by its folder, through its `pages`.

Imported by: server.
"""
