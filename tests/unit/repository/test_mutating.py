"""What `make mutants` tests and tells."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path

import pytest

import mutating
from mutating import Bench
from waiting import patience


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path, ("statistics",), "tests")


@pytest.fixture
def ends(bench: Bench) -> dict[str, int | None]:
    """Return how the tests of twenty mutants ended, as they are kept: two were
    killed.
    """
    folder = bench.copy / "judgescope/statistics"
    folder.mkdir(parents=True)
    by_key: dict[str, int | None] = {
        f"judgescope.statistics.dot.x_{n}": None for n in range(18)
    }
    by_key |= {"judgescope.statistics.dot.x_18": 1, "judgescope.statistics.dot.x_19": 1}
    (folder / "dot.py.meta").write_text(
        json.dumps({"other": 3, "exit_code_by_key": by_key})
    )
    return by_key


def listed_counts(bench: Bench) -> dict[str, int | None]:
    ((_, result),) = mutating.files(bench)
    return result


def test_a_sample_is_the_same_each_time_and_within_a_larger_one(
    bench: Bench, ends: dict[str, int | None]
) -> None:
    chosen = list[set[str]]()
    for sample in (4, 4, 10, None):
        mutating.choose(bench, sample, 0, "", again=False)
        chosen.append(
            {name for name, end in listed_counts(bench).items() if end is None}
        )
    assert chosen[0] == chosen[1] <= chosen[2] <= chosen[3] == {*list(ends)[:18]}
    assert 2 <= len(chosen[0]) <= 4 and 8 <= len(chosen[2]) <= 10


def test_what_was_found_stays_and_survivors_are_tested_again_where_it_is_asked_for(
    bench: Bench, ends: dict[str, int | None]
) -> None:
    (meta, result), *_ = mutating.files(bench)
    first = next(iter(ends))
    meta.write_text(json.dumps({"other": 3, "exit_code_by_key": result | {first: 0}}))
    mutating.choose(bench, None, 0, "no such module", again=True)
    assert Counter(listed_counts(bench).values()) == {0: 1, 1: 2, mutating.LEFT_OUT: 17}
    mutating.choose(bench, None, 0, "", again=False)
    assert Counter(listed_counts(bench).values()) == {0: 1, 1: 2, None: 17}
    mutating.choose(bench, None, 0, "", again=True)
    assert Counter(listed_counts(bench).values()) == {1: 2, None: 18}
    assert json.loads(meta.read_text())["other"] == 3


def test_what_ran_out_of_time_is_tested_again_where_it_is_asked_for(
    bench: Bench, ends: dict[str, int | None]
) -> None:
    (meta, result), *_ = mutating.files(bench)
    names = list(ends)
    codes = result | {names[0]: -24, names[1]: 36, names[2]: 0}
    meta.write_text(json.dumps({"other": 3, "exit_code_by_key": codes}))
    mutating.forget_timeouts(bench)
    assert Counter(listed_counts(bench).values()) == {None: 17, 0: 1, 1: 2}
    assert json.loads(meta.read_text())["other"] == 3


def test_a_limit_of_time_ends_no_process_of_others() -> None:
    sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen(sleep) as child:
        mutating.signal_child(child.pid, signal.SIGXCPU)
        assert child.wait(patience(20)) == -signal.SIGXCPU
        for other in (child.pid, os.getppid()):
            with pytest.raises(ProcessLookupError):
                mutating.signal_child(other, 0)


def test_a_share_that_is_killed_has_the_interval_of_wilson() -> None:
    # 8 of 10, z = 1.96: (8 + z²/2 ± z sqrt(8 * 2 / 10 + z²/4)) / (10 + z²) = .490, .943
    result = mutating._share(
        Counter(killed=8, survived=1, suspicious=1, **{"left out": 5})
    )
    assert result == (
        "    8 of    10 killed, 80.0% (49.0% to 94.3%); 5 left out, 1 survived, 1 "
        "suspicious"
    )
    assert mutating._share(Counter({"left out": 5})) == "5 left out"


def test_what_is_cached_is_mutated_too() -> None:
    text = (
        "@cache\ndef a() -> None: ...\n\n\n@lru_cache(maxsize=2 * N)\ndef b() -> "
        "None: ...\n"
    )
    assert (
        mutating.CACHED.sub("", text)
        == "def a() -> None: ...\n\n\ndef b() -> None: ...\n"
    )
    assert mutating.CACHED.sub("", "@property\n") == "@property\n"


def test_a_room_is_mutated_with_its_tests_alone() -> None:
    bench = mutating.bench_of("scoring")
    assert bench.folder.name == "mutants-scoring"
    mutmut = tomllib.loads(bench.settings())["tool"]["mutmut"]
    assert mutmut["only_mutate"] == ["judgescope/scoring/*"]
    assert mutmut["pytest_add_cli_args_test_selection"] == ["tests/unit/scoring"]
    copied = mutating._tests(bench)
    assert "unit/scoring/test_off_grid.py" in copied
    assert "support/members.py" in copied
    assert "unit/parsing/test_parsing_rules.py" not in copied
    fewer = mutating._tests(mutating.bench_of("scoring", chosen="off_grid"))
    gone = copied.keys() - fewer.keys()
    assert "unit/scoring/test_scoring.py" in gone
    assert not gone & {"unit/scoring/test_off_grid.py", "support/members.py"}


def test_the_bench_of_all_rooms_takes_the_tests_that_name_a_room() -> None:
    bench = mutating.bench_of(None)
    mutmut = tomllib.loads(bench.settings())["tool"]["mutmut"]
    assert mutmut["only_mutate"] == [
        f"judgescope/{package}/*" for package in mutating.PACKAGES
    ]
    copied = mutating._tests(bench)
    assert "unit/parsing/test_parsing_rules.py" in copied
    assert "unit/repository/test_languages_page.py" not in copied
