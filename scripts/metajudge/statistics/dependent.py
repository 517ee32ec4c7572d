"""Williams' test: two correlations that share a variable."""

import math


def williams(r12: float, r13: float, r23: float, n: int) -> float:
    """Return the two-sided p-value that r12 = r13, where 1 is correlated with 2 and with 3.

    t = (r12 - r13) sqrt((n - 1)(1 + r23) / (2 K (n - 1)/(n - 3) + m² (1 - r23)³)) with n - 3
    degrees of freedom, K = 1 - r12² - r13² - r23² + 2 r12 r13 r23, m = (r12 + r13)/2. Observations
    are taken as independent: for texts of shared sources use a permutation test. NaN below n = 4.
    ValueError for correlations outside [-1, 1]. Williams 1959; Graham and Baldwin 2014 for judges.
    """
    from scipy.special import stdtr  # here only: what merely asks or parses imports no scipy

    if not all(-1 <= r <= 1 for r in (r12, r13, r23)):
        raise ValueError(f"no correlations: {r12}, {r13}, {r23}")
    if n < 4:
        return math.nan
    k = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    middle = ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    below = 2 * k * (n - 1) / (n - 3) + middle
    if r12 == r13:
        return 1.0
    if below <= 0:
        return 0.0
    t = (r12 - r13) * math.sqrt((n - 1) * (1 + r23) / below)
    return float(2 * stdtr(n - 3, -abs(t)))
