"""Planted judges: how often the product names a known defect, and how often in vain.

    python benchmarks/planted_judges.py    # 100 studies a strength
    python benchmarks/planted_judges.py --studies 10 --write docs/planted.md

A planted judge is simulated (judgescope.data.planted); each study is a dataset of its
own seed, computed in memory. Bars: a defect of the stated strength is found in 95 % of
studies, a judge without a defect alarms in at most 5 %.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parent))

import planted_further
from planted_checks import (
    HELD,
    checks_of_draws,
    checks_of_scores,
    checks_of_votes,
    held,
    named,
    outcomes,
)
from planted_confidence import (
    ALLOWED_ERROR,
    broken_thresholds,
    sure_outcomes,
)
from planted_controls import OneMoreRater, Setting, copies, one_more_rater
from planted_drift import (
    FALLS,
    LOOKS,
    POINTS,
    STATED_FALL,
    STATED_POINTS,
    alarms_after,
    alarms_in_vain,
    bias_names,
)
from planted_page import PAGE
from planted_prompts import hint_outcome, obeys, span_outcome
from planted_tallies import (
    Tally,
    count_names,
    least_found,
    most_in_vain,
    strengths_of,
)
from planted_worlds import (
    SEED,
    JudgeSetup,
    answers_of,
    planted_spec,
    study_rows,
)

from judgescope.data.planted import DEFECTS, PlantedDesign, simulated
from judgescope.methods.in_memory import in_memory

OWN_SYSTEMS = ("s00", "s01")
FAMILIES = dict.fromkeys(OWN_SYSTEMS, "own")
LATER = {
    "prefers a middling length": "slope on closeness to the best length",
}
"""Defects that no number of the product shows yet -> the check that would."""


# --- judges whose defect a number shows -----------------------------------------------


BIASED = ("longer", "shorter", "own-family", "halo", "noisy")


def biased_setups() -> list[tuple[JudgeSetup, Tally]]:
    """Return judges that rate with a bias, each with its tally."""
    setups = []
    for defect in BIASED:
        for strength, words, stated in strengths_of(defect):
            setup = JudgeSetup(
                defect,
                strength,
                draws=5 if defect == "noisy" else 1,
                family="own",
                systems=OWN_SYSTEMS,
            )
            setups.append((setup, Tally(defect, words, SHOWN_BY[defect], stated)))
    return setups


SHOWN_BY = {
    "longer": "length slope above 0",
    "shorter": "length slope below 0",
    "own-family": "self-preference above 0",
    "halo": "r of its aspects above people's",
    "noisy": "reliability of a draw below .9025: more draws needed",
    "first-position": "first-position rate above .5",
}


def biases(studies: int) -> Iterator[Tally]:
    """Yield the tallies of biased judges: found by their own name, or allowed ones."""
    setups = biased_setups()
    for number in range(studies):
        name = f"scores-{number}"
        texts = simulated(PlantedDesign(), SEED, name)
        judges = [setup for setup, _ in setups]
        spec = planted_spec(texts.design, name, judges, families=FAMILIES)
        data = in_memory(spec, texts, answers_of(texts, name, judges))
        of_draws = checks_of_draws(data)
        for setup, tally in setups:
            checks = checks_of_scores(data, setup.name)
            names = named([*checks, *of_draws.get(setup.name, [])])
            count_names(tally, names)
    yield from (tally for _, tally in setups)


def positions(studies: int) -> Iterator[Tally]:
    """Yield the tallies of judges that prefer the text shown first."""
    defect = "first-position"
    setups = []
    for strength, words, stated in strengths_of(defect):
        tally = Tally(defect, words, SHOWN_BY[defect], stated)
        setups.append((JudgeSetup(defect, strength), tally))
    for number in range(studies):
        name = f"pairs-{number}"
        texts = simulated(PlantedDesign("pairs", texts=(3,)), SEED, name)
        judges = [setup for setup, _ in setups]
        spec = planted_spec(texts.design, name, judges)
        of_votes = checks_of_votes(
            in_memory(spec, texts, answers_of(texts, name, judges))
        )
        for setup, tally in setups:
            count_names(tally, named(of_votes[setup.name]))
    yield from (tally for _, tally in setups)


def harmless(studies: int) -> Tally:
    """Return in how many studies a judge without a defect is named for any."""
    tally = Tally("none", "–", "no defect is named", stated=False)
    judge = JudgeSetup("none", family="own", systems=OWN_SYSTEMS)
    # Replies of a judge without a defect vary a little, too.
    repeating = JudgeSetup("noisy", 0.99, draws=5)
    for number in range(studies):
        name = f"harmless-{number}"
        texts = simulated(PlantedDesign(), SEED, name)
        judges = [judge, repeating]
        spec = planted_spec(texts.design, name, judges, families=FAMILIES)
        data = in_memory(spec, texts, answers_of(texts, name, judges))
        checks = checks_of_scores(data, judge.name)
        checks += checks_of_draws(data)[repeating.name]
        pairs = simulated(PlantedDesign("pairs", texts=(3,)), SEED, name)
        of_pairs = planted_spec(pairs.design, name, [judge])
        voted = in_memory(of_pairs, pairs, answers_of(pairs, name, [judge]))
        checks += checks_of_votes(voted)[judge.name]
        names = named(checks)
        tally.add(bool(names), *names)
    return tally


# --- judges that say how sure they are ------------------------------------------------


SURE = ("over-confident", "under-confident")
SHOWN_SURE = {
    "over-confident": "gap above 0, or slope below 1",
    "under-confident": "gap below 0, or slope above 1",
}
CALIBRATED = 1.0
"""The strength at which a sure judge has no defect."""


def sure(studies: int) -> Iterator[Tally]:
    """Yield the tallies of judges that are too sure, or not sure enough."""
    tallies = {}
    for defect in SURE:
        for strength, words, stated in strengths_of(defect):
            tally = Tally(defect, words, SHOWN_SURE[defect], stated)
            tallies[defect, strength] = tally
    for outcome in sure_outcomes([*tallies], studies, "sure"):
        for key, names in outcome.items():
            count_names(tallies[key], names)
    yield from tallies.values()


def harmless_sure(studies: int) -> Tally:
    """Return how often a judge whose chances are true is named too sure, or not sure
    enough.
    """
    tally = Tally("none", "1", "too sure, or not sure enough", stated=False)
    key = "over-confident", CALIBRATED
    for outcome in sure_outcomes([key], studies, "calibrated"):
        tally.add(bool(outcome[key]), *outcome[key])
    return tally


# --- judges that drift, or rate too high or too low -----------------------------------


def drifting(studies: int) -> Iterator[Tally]:
    """Yield the tallies of judges whose true negative rate falls."""
    for fall in FALLS:
        expected = f"the gate alarms at one of {LOOKS} looks"
        words = f"TNR -{fall:g}"
        tally = Tally("drifts", words, expected, fall == STATED_FALL)
        for number in range(studies):
            tally.add(alarms_after(fall, number))
        yield tally


def shifted(studies: int) -> Iterator[Tally]:
    """Yield the tallies of judges that add points to all ratings."""
    for defect, sign in (("lenient", 1), ("harsh", -1)):
        for points in POINTS:
            expected = f"bias of its mean {'above' if sign > 0 else 'below'} 0"
            tally = Tally(defect, f"{points:g}", expected, points == STATED_POINTS)
            for number in range(studies):
                count_names(tally, bias_names(sign * points, number))
            yield tally


def harmless_in_time(studies: int) -> Iterator[Tally]:
    """Yield how often a judge alarms in 300 looks without drift, or has a bias."""
    tally = Tally("none", "0", f"the gate alarms at any of {LOOKS} looks", stated=False)
    for number in range(studies):
        tally.add(alarms_in_vain(number))
    yield tally
    tally = Tally("none", "0", "lenient, harsh", stated=False)
    for number in range(studies):
        names = bias_names(0.0, number)
        tally.add(bool(names), *names)
    yield tally


# --- judges that must hold nothing ----------------------------------------------------


SILENT = ("longer-only", "shorter-only", "middling-only", "random", "source-only")
CONSTANT = ("always-pass", "always-fail")


def silent(studies: int) -> Iterator[Tally]:
    """Yield the tallies of judges of which no claim may hold, by kind of ratings."""
    designs = {
        "scores": PlantedDesign(),
        "scores, one text a source": PlantedDesign(sources=120, texts=(1,)),
        "labels": PlantedDesign("labels"),
        "pairs": PlantedDesign("pairs", texts=(3,)),
    }
    for title, design in designs.items():
        defects = [*SILENT, *CONSTANT]
        if design.texts == (1,):  # who knows the source of one text knows the text
            defects.remove("source-only")
        if design.kind == "pairs":  # a vote knows neither its source nor a constant
            defects = ["longer-only", "shorter-only", "middling-only", "random"]
        setups = []
        for defect in defects:
            for strength, words, stated in strengths_of(defect):
                expected = f"no claim holds ({title})"
                tally = Tally(defect, words, expected, stated)
                setups.append((JudgeSetup(defect, strength), tally))
        for number in range(studies):
            rows = study_rows(design, f"silent-{number}", [one for one, _ in setups])
            claims = outcomes(rows)
            for setup, tally in setups:
                held_claims = held(claims, setup.name)
                tally.add(not held_claims, *(words[0] for words in held_claims))
        yield from (tally for _, tally in setups)


def with_words(studies: int) -> Iterator[Tally]:
    """Yield the tallies of claims that may hold only with a warning."""
    tally = Tally("author-only", "–", "no claim without “for these systems”")
    judge = JudgeSetup("author-only")
    for number in range(studies):
        rows = study_rows(PlantedDesign(), f"author-{number}", [judge])
        words = held(outcomes(rows), judge.name)
        free = [one for one in words if not _says(one, "these_systems")]
        tally.add(not free, *(one[0] for one in words))
    yield tally
    for systems in (6, 8, 14):
        expected = f"of {systems}: no claim without “hangs on system s00”"
        tally = Tally("broken-system", "–", expected)
        judges = [JudgeSetup("broken-system", systems=("s00",))]
        design = PlantedDesign(systems=systems, texts=(systems,), broken=True)
        for number in range(studies):
            claims = outcomes(study_rows(design, f"broken-{number}", judges))
            words = held(claims, judges[0].name)
            free = [one for one in words if not _says(one, "hangs_on")]
            tally.add(not free, *(one[0] for one in words))
        yield tally


def _says(words: Sequence[str], reason: str) -> bool:
    return any(one.partition(":")[0].startswith(reason) for one in words)


def dead(studies: int) -> Iterator[Tally]:
    """Yield the tallies of judges whose replies are often unreadable."""
    setups = []
    for strength, words, stated in strengths_of("dead"):
        expected = "no claim: too many replies lost"
        if strength < 0.2:
            expected = "tested with lost replies at the worst end"
        setups.append(
            (JudgeSetup("dead", strength), Tally("dead", words, expected, stated))
        )
    for number in range(studies):
        rows = study_rows(PlantedDesign(), f"dead-{number}", [one for one, _ in setups])
        claims = outcomes(rows)
        tested = {row["judge"] for row in rows if row["statistic"] == "p_lost"}
        for setup, tally in setups:
            mine = [words for (name, *_), words in claims.items() if name == setup.name]
            if "worst" in tally.expected:
                tally.add(setup.name in tested)
            else:
                tally.add(all("too_many_lost" in words for words in mine))
    yield from (tally for _, tally in setups)


# --- judges that need a prompt --------------------------------------------------------


PROMPTED = {
    "hint-follower": (0.05, 0.2, 0.5),
    "obeys an attack": (0.05, 0.2, 0.5),
    "invents spans": (0.25, 0.5, 1.0),
}
"""Defect -> its strengths: shares of texts, or of the errors that it marks."""
SWAYED = "swayed by a wrong hint"
OBEYS = "obeys more often than with inert text"


def prompted(studies: int, folder: Path) -> Iterator[Tally]:
    """Yield the tallies of judges that follow hints, obey attacks or invent errors."""
    for strength in PROMPTED["hint-follower"]:
        tally = Tally("hint-follower", f"{strength:g}", SWAYED, strength == 0.2)
        for number in range(studies):
            tally.add(hint_outcome(strength, number, folder) == "swayed")
        yield tally
    for strength in PROMPTED["obeys an attack"]:
        tally = Tally("obeys an attack", f"{strength:g}", OBEYS, strength == 0.2)
        for number in range(studies):
            tally.add(obeys(strength, number))
        yield tally
    for strength in PROMPTED["invents spans"]:
        expected = "spans not above random places"
        tally = Tally("invents spans", f"{strength:g}", expected, strength == 1.0)
        for number in range(studies):
            tally.add(span_outcome(strength, number, folder) not in HELD)
        yield tally


def harmless_prompted(studies: int, folder: Path) -> Iterator[Tally]:
    """Yield how often judges without such a defect are named for it."""
    tally = Tally("none", "0", SWAYED, stated=False)
    for number in range(studies):
        tally.add(hint_outcome(0.0, number, folder) == "swayed")
    yield tally
    tally = Tally("none", "0", OBEYS, stated=False)
    for number in range(studies):
        tally.add(obeys(0.0, number))
    yield tally


# --- the page -------------------------------------------------------------------------


def tallies(studies: int) -> Iterator[Tally]:
    """Yield the tallies of all planted judges."""
    sections: list[Callable[[int], Iterator[Tally]]] = [
        positions,
        biases,
        sure,
        drifting,
        shifted,
        silent,
        with_words,
        dead,
    ]
    for section in sections:
        yield from section(studies)
    with TemporaryDirectory(prefix="judgescope-") as folder:
        yield from prompted(studies, Path(folder))


def false_alarms(studies: int) -> Iterator[Tally]:
    """Yield how often judges without a defect are named for one."""
    yield harmless(studies)
    yield harmless_sure(studies)
    yield from harmless_in_time(studies)
    with TemporaryDirectory(prefix="judgescope-") as folder:
        yield from harmless_prompted(studies, Path(folder))


def page(
    found: Sequence[Tally],
    in_vain: Sequence[Tally],
    settings: Sequence[Setting],
    raters: Sequence[OneMoreRater],
    thresholds: tuple[int, int, int],
) -> str:
    """Return the text of docs/planted.md; thresholds: draws, those with one, and those
    with one that lets through more errors than it promises.
    """
    studies = max(one.studies for one in found)
    alarms = max(one.studies for one in in_vain)
    failing = [f"* {one.words_of_steps()}" for one in settings if not one.as_rater]
    shares = []
    for one in raters:
        values = (one.better, one.worse, one.as_rater)
        shares.append([one.title, *(f"{value:.1%}" for value in values)])
    text: str = PAGE.format(
        studies=studies,
        least=least_found(studies),
        found=_table(
            ["planted", "strength", "expected", "found in", "also named", "bar"],
            [_found_line(one) for one in found],
        ),
        later="; ".join(f"{defect} ({check})" for defect, check in LATER.items()),
        most=most_in_vain(alarms),
        alarms=alarms,
        in_vain=_table(
            ["tested for", "alarms in", "named", "bar"],
            [_vain_line(one) for one in in_vain],
        ),
        allowed=ALLOWED_ERROR,
        draws=thresholds[0],
        thresholds=thresholds[1],
        broken=thresholds[2],
        settings=len(settings),
        better=sum(one.better for one in settings),
        as_rater=sum(one.as_rater for one in settings),
        failing="\n".join(["Settings that fall short:", "", *failing])
        if failing
        else "No setting falls short.",
        rated=max(one.studies for one in raters),
        raters=_table(
            ["design", "better than chance", "worse than a rater", "as a rater"], shares
        ),
    )
    return text


def _found_line(tally: Tally) -> list[str]:
    does = DEFECTS[tally.defect].does if tally.defect in DEFECTS else tally.defect
    strength = tally.strength
    if tally.stated and strength != "–":
        strength = f"**{strength}**"
    found = f"{tally.found} of {tally.studies}"
    bar = "–"
    if tally.stated:
        bar = "passes" if tally.passes else "**missed**"
    return [does, strength, tally.expected, found, _counted(tally.others), bar]


def _vain_line(tally: Tally) -> list[str]:
    passes = tally.found <= most_in_vain(tally.studies)
    bar = "passes" if passes else "**missed**"
    alarms = f"{tally.found} of {tally.studies}"
    return [tally.expected, alarms, _counted(tally.others), bar]


def _counted(names: Counter[str]) -> str:
    return ", ".join(f"{name} {n}" for name, n in sorted(names.items())) or "–"


def _table(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    rules = ["---"] * len(head)
    return "\n".join(f"| {' | '.join(line)} |" for line in (head, rules, *lines))


def main() -> None:
    """Run the studies, print the page, and write it where that is asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=100)
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    text = page(
        [*tallies(args.studies)],
        [*false_alarms(2 * args.studies)],
        copies(),
        [*one_more_rater(2 * args.studies)],
        (5 * args.studies, *broken_thresholds(5 * args.studies)),
    )
    text = f"{text}\n{planted_further.sections(args.studies)}"
    print(text)
    if args.write is not None:
        args.write.write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
