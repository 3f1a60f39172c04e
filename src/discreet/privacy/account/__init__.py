"""Pure mathematics: events in, cost out. No data, no chance, no memory.

Imported by: many rooms.
"""
