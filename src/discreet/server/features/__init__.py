"""What the server offers, one folder a capability: body, work, routes, pages.

Only server/app imports from here.
"""
