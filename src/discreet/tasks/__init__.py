"""The commands as functions: what `discreet NAME` does, without a terminal. One file each.

Commands and the menu of the package import from here. A curator's own methods are in `api`.
"""
