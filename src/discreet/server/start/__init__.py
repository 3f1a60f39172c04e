"""How a server begins: its sockets, its HTTP reader and its logs.

Imported by the commands that serve, and by the application for its logs.
"""
