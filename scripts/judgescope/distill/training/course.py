"""The course of a training: in which order examples are seen, how fast is learnt, what is noted."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import Any, NamedTuple

from judgescope.core.rng import stream
from judgescope.distill.training.examples import Example

Row = dict[str, Any]


class Loss(NamedTuple):
    """The sum of a reply's negative log likelihoods in nats, before and after the training."""

    before: float
    after: float


def order(seed: int, count: int, epochs: int) -> list[int]:
    """Return which example is seen when: in each epoch all of them once, in an order of its own."""
    return [
        int(number)
        for epoch in range(epochs)
        for number in stream(seed, "training", "order", epoch).permutation(count)
    ]


def steps(seen: int, batch: int) -> int:
    """Return how many steps there are; the last may have fewer examples than a batch."""
    return ceil(seen / batch)


def rate(step: int, last: int, warmup: float) -> float:
    """min((s + 1)/(w + 1), (S − s)/(S − w)) of the learning rate at step s = 0..S−1.

    It rises over the first w = warmup·S steps (rounded, at most S − 1), is 1 at step w, and falls
    in a line that ends at 0 after the last step. No step has the rate 0.
    """
    risen = min(round(warmup * last), last - 1)
    return min((step + 1) / (risen + 1), (last - step) / (last - risen))


def learnt(seen: Sequence[Example], batch: int, noted: Iterable[Row]) -> list[Row]:
    """Return a row of table `training` for each step, from what the trainer noted of them."""
    tokens = [0]
    for one in seen:
        tokens.append(tokens[-1] + len(one.reply))
    rows = []
    for note in noted:
        until = min(note["step"] * batch, len(seen))
        told = {name: note[name] for name in ("step", "loss", "learning_rate")}
        rows.append({**told, "split": "train", "examples": until, "tokens": tokens[until]})
    return rows


def held_out(step: int, loss: float, of: Sequence[Example]) -> Row:
    """Return a row of table `training`: the sum of the losses of all tokens that are held out."""
    tokens = sum(len(one.reply) for one in of)
    return {
        "step": step,
        "split": "held_out",
        "loss": loss / tokens,
        "examples": len(of),
        "tokens": tokens,
    }


def losses(of: Sequence[Example], found: Sequence[Loss]) -> list[Row]:
    """Return the rows of table `losses`."""
    told = ("dataset", "item", "target", "aspect")
    return [
        {
            **{name: one.row[name] for name in told},
            "tokens": len(one.reply),
            "before": loss.before / len(one.reply),
            "after": loss.after / len(one.reply),
        }
        for one, loss in zip(of, found, strict=True)
    ]
