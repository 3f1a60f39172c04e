"""Who may call what: tokens, sessions, sign-in, rate limits, headers, the audit log.

Every feature imports from here.
"""
