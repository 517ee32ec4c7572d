"""What several tests of ensemble student share."""

import numpy as np

from methods_setup import (
    ASPECTS,
    GOOD,
    NOISY,
)

TAUGHT = {aspect: 5 * np.round(5 * (NOISY[aspect] + GOOD[aspect]) / 2 - 5) for aspect in ASPECTS}
"""On 0 to 100 in steps of 5."""
