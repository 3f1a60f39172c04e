"""What one unit can do to the result of a statement, derived bottom-up over the final SQL.

Only kernel/ imports from here, and whoever renders for it reads its vocabulary.
"""
