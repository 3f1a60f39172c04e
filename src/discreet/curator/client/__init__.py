"""HTTP client: the curator's methods against a server.

Asking needs the standard library alone; what a server learned is fetched, and used here by `learn` and `synth`.

Imported by: discreet, lab.
"""

from discreet.curator.client.client import Client, connect

__all__ = ["Client", "connect"]
