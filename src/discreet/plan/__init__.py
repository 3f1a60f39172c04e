"""The relational tree, its domains, stability and mechanisms. Reads no rows."""
