"""One folder for each thing that the server offers: its body, work, routes and pages.

The application imports them; they import the server's own packages and the curator.
"""
