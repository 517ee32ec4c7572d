"""The random streams of claims."""

import numpy as np

from judgescope.core.rng import stream
from judgescope.methods.evaluation_data import EvaluationData


def claim_stream(data: EvaluationData, *names: str | int) -> np.random.Generator:
    """The random stream of what a claim draws.

    It does not depend on the dataset's name: an audit names the dataset after its file,
    and the same table in another file must have the same numbers.
    """
    return stream(data.spec.seed, "claims", *names)
