"""Type aliases of numpy arrays, by what they hold: one name for one kind, used by every room.

Where another name says more (a tally, the codes of a column), it is defined from one of these.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Bits: TypeAlias = npt.NDArray[np.bool_]
Integers: TypeAlias = npt.NDArray[np.int64]
Floats: TypeAlias = npt.NDArray[np.float64]
