"""Error bars and confidence sets of outputs, from noise laws and paid values alone.

Only release/ imports from here.
"""
