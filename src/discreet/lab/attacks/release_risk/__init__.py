"""How much a release adds about its people: singling out, linkability, inference, beside strangers.

Found through the registry of attacks.

Imported by: lab/attacks.
"""
