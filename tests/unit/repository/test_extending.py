"""docs/extending.md: its code is code that works, its cards are cards, its paths are
there.
"""

import importlib.util
import re
import textwrap
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import yaml

from deleted import jackknife_t
from judgescope.schema.loading import validate_card
from judgescope.statistics.intervals import deletions
from judgescope.statistics.registry import STATISTICS, statistic
from methods_setup import RATINGS, study
from running import HOME

TEXT = (HOME / "docs" / "extending.md").read_text(encoding="utf-8")
LIBRARY = HOME / "scripts" / "judgescope"


def examples() -> dict[str, str]:
    """Return file -> its content, of the indented blocks that begin with a file's
    name.
    """
    blocks = map(
        textwrap.dedent, re.findall(r"(?:^    .*\n|^\n(?=\n?    ))+", TEXT, re.M)
    )
    named = (re.match(r"\n*# (\S+\.(?:py|yaml))\n", block) for block in blocks)
    return {result[1]: result.string[result.end() :] for result in named if result}


def module(name: str, folder: Path) -> ModuleType:
    """Import one of the examples as if it lay in the library."""
    path = folder / Path(name).name
    path.write_text(examples()[name], encoding="utf-8")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec and spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize(
    "name", sorted(name for name in examples() if name.endswith(".py"))
)
def test_an_example_of_code_is_imported_and_takes_no_ones_location(
    name: str, tmp_path: Path
) -> None:
    assert module(name, tmp_path).__doc__ and not (LIBRARY / name).exists()


@pytest.mark.parametrize(
    "name", sorted(name for name in examples() if name.endswith(".yaml"))
)
def test_an_example_of_a_card_is_valid(name: str) -> None:
    kind = {"aspects": "aspect", "judges": "judge"}[Path(name).parent.name]
    assert validate_card(kind, yaml.safe_load(examples()[name]), name)


def test_the_examples_do_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_stars = module("parsing/stars.py", tmp_path).read_stars
    assert (read_stars.name, read_stars.version) == ("stars", 1)
    assert (
        read_stars("I say ***", None).value == 3
        and read_stars("none", None).value is None
    )
    shout = module("perturb/shouting.py", tmp_path).shout
    made = shout("Two herons nest below the weir.", np.random.default_rng(1), k=2)
    assert len(made.edits) == 2 and sum(map(str.isupper, made.text.split())) == 2
    assert shout("OH NO", np.random.default_rng(1), k=2).text == "OH NO"
    dispersion = module("statistics/dispersion.py", tmp_path)
    mean_distance, [declared] = dispersion.mean_distance, dispersion.DECLARED
    monkeypatch.setitem(STATISTICS._loaded, declared.name, declared)
    assert statistic("mean_distance").meaning == "mean of |judge - people|"
    x, y = np.array([1.0, 4.0, np.nan]), np.array([2.0, 4.0, 1.0])
    estimate = mean_distance(x, y, None).estimate
    assert (estimate.value, estimate.n, estimate.n_missing) == (0.5, 2, 1)
    x, y = np.append(np.arange(12.0), np.nan), np.append(np.arange(12.0) ** 2 / 9, 1)
    gap = np.abs(x - y)[:-1]
    estimate = mean_distance(x, y, deletions(13)).estimate
    expected = jackknife_t(gap.mean(), [np.delete(gap, s).mean() for s in range(12)])
    assert (estimate.ci_low, estimate.ci_high) == pytest.approx(
        expected
    ) and estimate.n_missing == 1


def test_the_example_of_a_claim_holds_near_people_and_not_far_off(
    tmp_path: Path,
) -> None:
    """`near` is on average half a point above people, `far` two points."""
    claims = module("methods/claims/distance.py", tmp_path).CLAIMS
    rng = np.random.default_rng(1)
    near = {}
    far = {}
    for aspect, ratings in RATINGS.items():
        near[aspect] = ratings.mean(axis=0) + rng.uniform(0, 1, ratings.shape[1])
        far[aspect] = near[aspect] + 1.5
    data = study({"near": near, "far": far}, values=None)
    assert claims.name == "distance"
    [make] = claims.makers
    found = [*make(data)]
    assert {claim.judge for claim in found} == {"near", "far"}
    for claim in found:
        p = claim.nulls["one_point"]
        assert p < 0.001 if claim.judge == "near" else p > 0.999
        distance = {"near": 0.5, "far": 2.0}[claim.judge]
        assert claim.estimate.value == pytest.approx(distance, abs=0.1)


@pytest.mark.heavy
def test_the_paths_that_it_names_exist() -> None:
    new = {Path(name).name for name in examples()} | {
        "<id>.yaml",
        "terse.jinja",
        "shouting.yaml",
    }
    named = set(re.findall(r"`([\w./<>-]+\.(?:py|yaml|smk|jinja|md|json))`", TEXT))
    places = (HOME, LIBRARY, HOME / "config", HOME / "docs", HOME / "scripts")
    absent = [
        name
        for name in sorted(named)
        if Path(name).name not in new
        and not any((location / name).exists() for location in places)
    ]
    assert [name for name in absent if not list(HOME.glob(f"*/**/{name}"))] == []


NAMED_IN = re.compile(
    r"`(\w+)`[\s,;:.()a-z]{0,40}?(?:of|in|\()\s*`((?:[a-z]+/)+[\w/]+\.py)`"
)


def test_what_it_names_in_a_file_is_in_that_file() -> None:
    pairs = NAMED_IN.findall(TEXT)
    absent = []
    for name, path in pairs:
        roots = [root for root in (HOME, LIBRARY) if (root / path).is_file()]
        if not any(re.search(rf"\b{name}\b", read(root / path)) for root in roots):
            absent.append((name, path))
    assert pairs and not absent


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")
