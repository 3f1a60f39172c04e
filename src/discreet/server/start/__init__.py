"""How a server begins: its sockets, its HTTP reader and its logs.

Imported by: server.
"""
