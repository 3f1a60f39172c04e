"""The PostgreSQL wire endpoint: any PostgreSQL client can ask the curator."""

from discreet.server.pgwire.server import serve_pg

__all__ = ["serve_pg"]
