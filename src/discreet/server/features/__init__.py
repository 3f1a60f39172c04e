"""What the server offers, one folder a feature: bodies, work, routes and pages; imported by app.py."""
