"""What may be asked for, one frozen dataclass a capability: the only place where its fields are written.

Light on purpose: commands, HTTP bodies, the client and the checked requests of each package read them.

Imported by: many rooms.
"""
