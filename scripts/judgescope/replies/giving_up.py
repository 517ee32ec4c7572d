"""Draws that get no answer in run after run, though the endpoint works: they end as
errors, so that the study can end.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from judgescope.core.errors import UserError
from judgescope.engines.requests import Failure, Reply
from judgescope.replies.lookup import KeyedDraw, KeyTable, StoredReplies
from judgescope.replies.store import Store


@dataclass(frozen=True)
class GivingUp:
    """When a job gives a draw up."""

    runs: int | None
    """Number of runs without an answer to it; None: never."""
    endpoint_works: Callable[[], bool]
    """Send one plain test request, and return whether it is answered: if not, nothing
    is known about the draw."""

    def note(
        self, failures: Sequence[Failure], stored: StoredReplies, store: Store
    ) -> "Noted | None":
        """Note the failures of a job, and give up the draws that failed too often;
        None if the endpoint does not work.
        """
        known = [failure for failure in failures if failure.key]
        if not known or not self.endpoint_works():
            return None
        noted = Noted([], 0, self.runs)
        for failure in known:
            draw = (failure.key, failure.draw)
            store.fail(draw, failure.reason)
            runs = len(stored.failed(draw)) + 1
            if self.runs is not None and runs >= self.runs:
                reply = given_up(draw, runs, failure.reason)
                stored.add(reply, *store.append(reply))
                noted.given_up.append(draw)
            else:
                noted.most_runs = max(noted.most_runs, runs)
        return noted


@dataclass
class Noted:
    """The outcome of a job's failures: the draws that were given up, and of the others
    the most runs without an answer.
    """

    given_up: list[KeyedDraw]
    most_runs: int
    limit: int | None

    def sentence(self, left: int, total: int) -> str:
        """Return what a user reads about the draws that were not given up.

        >>> Noted([], 2, 3).sentence(1, 40)
        '1 of 40 requests failed in 2 runs; after one more it counts as an error'
        """
        runs = "1 run"
        if self.most_runs != 1:
            runs = f"{self.most_runs} runs"
        failed = f"{left} of {total} requests failed in {runs}"
        if self.limit is None:
            return failed
        more = self.limit - self.most_runs
        after = "one more" if more == 1 else f"{more} more"
        return (
            f"{failed}; after {after} "
            f"{'it counts as an error' if left == 1 else 'they count as errors'}"
        )


def given_up(draw: KeyedDraw, runs: int, reason: str) -> Reply:
    """Return the error of a draw that is given up."""
    times = "1 run" if runs == 1 else f"{runs} runs"
    text = f"given up after {times}: {reason}"
    return Reply(*draw, text, finish="given_up", status="error")


def candidates(store: Store, keys: Iterable[str]) -> dict[KeyedDraw, dict[str, str]]:
    """Return the draws of some keys that got no answer in any run -> job -> reason."""
    wanted = set(keys)
    draws: dict[str, int] = {}
    for key, draw in store.failed_draws():
        if key in wanted:
            draws[key] = max(draw + 1, draws.get(key, 0))
    stored = store.find(KeyTable.from_counts(draws))
    return {draw: stored.failed(draw) for draw in stored.failed_draws()}


def unanswered(
    noted: Noted | None, failures: Sequence[Failure], total: int, tried: int, kept: int
) -> UserError | None:
    """Return the error of a job whose requests failed; None if all were given up.

    total: the job's draws; tried: those that it had to request; kept: those that were
    answered.
    """
    done = set(noted.given_up) if noted else set()
    left = []
    for failure in failures:
        if (failure.key, failure.draw) not in done:
            left.append(failure)
    if not left:
        return None
    advice = next((failure.advice for failure in left if failure.advice), "")
    what = f"{len(left)} of {tried} requests failed: {left[0].reason}"
    todo = f"the other {kept} replies are stored; run again to request the rest"
    give_up = "judgescope replies give-up STUDY"
    if noted is not None:
        what = f"{noted.sentence(len(left), total)}: {left[0].reason}"
        todo = f"{todo}; to count them as errors now: {give_up}"
    return UserError(
        what,
        where=", ".join(failure.about for failure in left[:5]),
        todo=f"{advice}; {todo}" if advice else todo,
    )
