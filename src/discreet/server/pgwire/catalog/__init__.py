"""Our own pg_catalog: public facts that clients browse, in a locked child process.

Only pgwire/ imports from here.
"""
