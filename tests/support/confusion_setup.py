"""What several tests of confusion share."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

TABLE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "s001_table4.csv"


Floats = NDArray[np.float64]
