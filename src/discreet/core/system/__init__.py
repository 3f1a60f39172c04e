"""What the machine has to offer: packages that may be absent, files that must be whole, folders that can be called.

Imported by: many rooms.
"""
