"""The red team: attacks on everything that is released, and audits of our own mechanisms."""
