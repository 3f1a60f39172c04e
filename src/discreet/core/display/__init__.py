"""How results show themselves to people: as a few lines, in a terminal and in a notebook.

It knows results by their JSON alone.

Imported by: many rooms.
"""
