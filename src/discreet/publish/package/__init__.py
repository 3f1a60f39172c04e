"""RELEASE.zip: the members of a package, its manifest, its signature and the owner's key.

Takes a `Contents` and knows nothing of data, ledgers or engines.

Imported by: api, publish.
"""

from discreet.publish.package.keys import OwnerKey, owner_key
from discreet.publish.package.write import write_package

__all__ = ["OwnerKey", "owner_key", "write_package"]
