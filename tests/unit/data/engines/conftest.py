from __future__ import annotations

import sys
from pathlib import Path

# The tests are folders, not packages; tests/engines.py is shared with the contract suite.
sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
