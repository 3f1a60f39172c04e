"""Who may call what: tokens, sessions, sign-in, rate limits, headers, the audit log.

Imported by: cli, server, server/features, server/jobs, server/pgwire.
"""
