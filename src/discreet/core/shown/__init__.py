"""How results show themselves to people: as a few lines, in a terminal and in a notebook.

Everything that is handed out may import from here; it knows results by their JSON alone.
"""
