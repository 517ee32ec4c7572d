"""Claims: the requests that a job is about to send, so that no other job pays for them.

Claims lie beside the shard, because a shard is shared by all studies of a store. They
have one order, whatever the study: of two jobs that need the same reply, the later one
waits. A claim is alive as long as its job is (see `Claims.wait`).
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from judgescope.core import hosts
from judgescope.replies import ledger
from judgescope.replies.journal import KEY, Keys
from judgescope.replies.store import Store

QUIET = 600.0
"""Seconds without a sign of life after which no job waits for one on another
machine."""


@dataclass(frozen=True)
class RequestClaim:
    """The claim of a job: its study, its name in the study's ledger, its machine and
    process.
    """

    study: str
    owner: str
    host: str
    process: int

    def __str__(self) -> str:
        """Return the job's name for messages."""
        host = self.host.split()[0]
        return f"study {self.study} (process {self.process} on host {host})"

    def sign(self, store: Path) -> ledger.Heartbeat:
        """Return the sign of life of the job."""
        return ledger.Heartbeat(store / ledger.FOLDER / self.study, self.owner)


OpenClaims = dict[str, RequestClaim]  # number of a claim -> the claim


class ClaimChain(ledger.Chain[OpenClaims]):
    """The chain of the open claims on a shard."""

    def empty(self) -> OpenClaims:
        """Return the state before the first claim."""
        return {}

    def encoded(self, state: OpenClaims) -> dict[str, Any]:
        """Return the open claims as JSON."""
        return {"open": {name: vars(claim) for name, claim in state.items()}}

    def decoded(self, state: dict[str, Any]) -> OpenClaims:
        """Return the open claims from JSON."""
        return {name: RequestClaim(**claim) for name, claim in state["open"].items()}

    def unreadable(self) -> tuple[str, str]:
        """Return what cannot be read, and what to do."""
        return (
            "the record of running requests cannot be read",
            "delete its folder when no run asks this model",
        )


class EarlierClaim(NamedTuple):
    """The keys that another job claimed earlier and this job needs, too.

    `keys` is None if they cannot be read.
    """

    claim: RequestClaim
    keys: Keys | None


class Claims:
    """The claims of one job on a shard; the last one counts."""

    def __init__(self, store: Store, study: str) -> None:
        # In a shard; no journal's name begins with a dot.
        claims_folder = ".claims"
        self.folder = store.shard / claims_folder
        self.chain = ClaimChain(self.folder)
        self.store = store.shard.parent
        self.claim = RequestClaim(study, store.start, hosts.machine_id(), os.getpid())
        self._count = 0
        self._earlier: dict[str, RequestClaim] = {}

    def make(self, keys: Keys, now: ledger.Heartbeat) -> list[EarlierClaim]:
        """Claim these distinct keys; return the earlier claims that share keys with it.

        A job's new claim is later than all others, and replaces its last one. `now` is
        a sign of life that this job gave just now. Raises OSError if the claims of a
        shard cannot be written.
        """
        self._count += 1
        last = self._name(self._count - 1)
        name = self._name(self._count)
        # a name is never used again: another job may still read the last claim's keys
        self.folder.mkdir(parents=True, exist_ok=True)
        self._keys_path(name).write_bytes(keys.tobytes())

        def step(state: OpenClaims) -> None:
            dead = []
            for each, claim in state.items():
                if ledger.is_dead(claim, claim.sign(self.store), now):
                    dead.append(each)
            for gone in [*dead, last]:
                if state.pop(gone, None) is not None:
                    removed.append(gone)
            state[name] = self.claim

        removed: list[str] = []
        state = self.chain.change(step)
        for gone in removed:
            self._keys_path(gone).unlink(missing_ok=True)
        self._earlier = {}
        shared: list[EarlierClaim] = []
        for other, claim in state.items():
            if claim.owner == self.claim.owner:
                continue
            common = self._common(keys, other)
            if common is None or len(common):
                shared.append(EarlierClaim(claim, common))
            if common is not None and len(common):
                self._earlier[other] = claim
        return shared

    def _common(self, keys: Keys, other: str) -> Keys | None:
        """Return the keys that another open claim contains, too; None if it cannot be
        read.
        """
        try:
            theirs = np.frombuffer(self._keys_path(other).read_bytes(), KEY)
        except FileNotFoundError:
            if other in self.chain.state():
                return None
            return keys[:0]  # it has ended meanwhile
        except (OSError, ValueError):
            return None
        return np.intersect1d(keys, theirs)

    def are_awaited(self, now: ledger.Heartbeat) -> bool:
        """Return whether an earlier job with common keys is alive and still has its
        claim.

        It counts as ended after an hour without a sign of life, on another machine
        after QUIET seconds: at worst, its requests are sent twice.
        """
        state = self.chain.state()
        return any(
            name in state and self._is_alive(claim, now)
            for name, claim in self._earlier.items()
        )

    def _is_alive(self, claim: RequestClaim, now: ledger.Heartbeat) -> bool:
        sign = claim.sign(self.store)
        if ledger.is_dead(claim, sign, now):
            return False
        near = claim.host == hosts.machine_id()
        return sign.behind(now) <= (ledger.SILENT if near else QUIET)

    def end(self) -> None:
        """Remove the job's claim."""
        if not self._count:
            return
        name = self._name(self._count)
        self.chain.change(lambda state: state.pop(name, None))
        self._keys_path(name).unlink(missing_ok=True)

    def _name(self, number: int) -> str:
        return f"{self.claim.owner}.{number}"

    def _keys_path(self, name: str) -> Path:
        return self.folder / f"{name}.keys"


def union(keys: Keys, earlier: Sequence[EarlierClaim]) -> Keys:
    """Return those of `keys` that earlier claims contain."""
    common = [each.keys for each in earlier if each.keys is not None]
    return np.unique(np.concatenate([keys[:0], *common]))
