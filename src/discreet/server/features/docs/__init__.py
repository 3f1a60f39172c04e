"""The documentation as pages: tutorials, concepts and reference, from files inside the package.

Only the frame finds it, through its `pages`.
"""
