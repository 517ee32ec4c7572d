"""What is known of SummEval's 12 systems from 20, 50 and 100 rated articles.

    python benchmarks/summeval_story.py FOLDER [draws]    # FOLDER: {data} of cards

The judge is gpt-3.5-turbo-0301 as recorded (Shen et al. 2023), read with our parser;
the ratings are the mean of SummEval's three experts. Of `draws` random sets of rated
articles: how wide the interval of a system's mean is by people alone and corrected
(saved: 1 minus the ratio of squared widths, as widths fall with the root of n), how
many of the 66 pairs of systems are told apart (Holm), and how many of these the wrong
way round, as all 100 articles have it. The judge alone says the same whatever is rated.
Without the data it says so and measures nothing. Nothing is asked.
"""

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts"))

from judgescope.parsing.judgment import PARSERS, Scale
from judgescope.statistics.corrected import (
    CorrectedMean,
    RatedTexts,
    corrected_mean,
    difference_of,
    people_alone,
    sample_of,
    two_sided,
)
from judgescope.statistics.intervals import holm
from judgescope.statistics.recalibrated import recalibrated

Floats = NDArray[np.float64]
ASPECTS: Final = ("coherence", "consistency", "fluency", "relevance")
RATED: Final = (20, 50, 100)
DRAWS: Final = 50
SEED: Final = 20261201
EXPERTS: Final = 3
PER_RATING: Final = 0.5
"""US$ for one expert's four ratings of a summary: an assumption, not a quotation."""
PER_MILLION: Final = (0.5, 1.5)
"""US$ per million input and output tokens, gpt-3.5-turbo at list price of 2024."""
SCALE: Final = Scale(1, 5, 0.5)
ENDS: Final = (1.0, 5.0)
SPAN: Final = 4.0


@dataclass
class Recorded:
    """Aspect -> scores and ratings, (systems, articles) each; what the judge cost."""

    judged: dict[str, Floats]
    rated: dict[str, Floats]
    dollars: float
    unread: int


@dataclass
class Known:
    """What some rated articles say, gathered over draws."""

    widths: list[float] = field(default_factory=list)
    apart: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)

    def add(
        self, results: list[CorrectedMean], pairs: list[CorrectedMean], gaps: Floats
    ) -> None:
        """Add the half-widths of means, the pairs told apart, and how many of these are
        the wrong way round; gaps: the differences on all articles.
        """
        for result in results:
            low, high = result.estimate.ci_low, result.estimate.ci_high
            if low is not None and high is not None:
                self.widths.append((high - low) / 2)
        p = [np.nan if pair.p is None else pair.p for pair in pairs]
        shown = holm(np.array(p)) <= 0.05
        self.apart.append(int(shown.sum()))
        signs = np.array([np.sign(pair.estimate.value or 0.0) for pair in pairs])
        self.wrong.append(int((shown & (signs != np.sign(gaps))).sum()))


def load(data: Path) -> Recorded:
    """Return scores and experts' means of the articles, in one order."""
    rated: dict[tuple[str, str], dict[str, float]] = {}
    file = data / "summeval/model_annotations.12systems.jsonl"
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        means = {}
        for aspect in ASPECTS:
            means[aspect] = np.mean([one[aspect] for one in row["expert_annotations"]])
        rated[row["model_id"], row["id"]] = {k: float(v) for k, v in means.items()}
    systems = sorted({system for system, _ in rated})
    articles = sorted({article for _, article in rated})
    judged = {name: np.full((len(systems), len(articles)), np.nan) for name in ASPECTS}
    people = {name: np.full((len(systems), len(articles)), np.nan) for name in ASPECTS}
    for (system, article), means in rated.items():
        place = systems.index(system), articles.index(article)
        for aspect, value in means.items():
            people[aspect][place] = value
    parse = PARSERS["score"]
    tokens = np.zeros(2)
    unread = 0
    for row_of, system in enumerate(systems):
        for aspect in ASPECTS:
            path = data / f"recorded/summeval_gpt35/{system}_{aspect}_rts.jsonl"
            for line in path.read_text("utf-8").splitlines():
                reply = json.loads(line)
                verdict = parse.read(reply["resp"], SCALE)
                tokens += reply["prompt_len"], reply["total_len"] - reply["prompt_len"]
                if verdict.value is None:
                    unread += 1
                    continue
                judged[aspect][row_of, articles.index(reply["id"])] = verdict.value
    return Recorded(judged, people, float(tokens @ PER_MILLION) / 1e6, unread)


def _alone(texts: Any, ends: tuple[float, float]) -> CorrectedMean:
    """People's mean of a sample, as if there were no judge."""
    result = people_alone(texts, ends)
    return CorrectedMean(result.estimate, two_sided(result), 0.0)


def known(
    judged: Floats, rated: Floats, chosen: NDArray[np.int64], each: dict[str, Known]
) -> None:
    """Add what people alone, and the corrected judge, say of the chosen articles."""
    systems, articles = judged.shape
    source = np.arange(articles)
    kept = np.full(rated.shape, np.nan)
    kept[:, chosen] = rated[:, chosen]
    raw = [RatedTexts(judged[at], kept[at], source) for at in range(systems)]
    used = [recalibrated(texts) for texts in raw]
    truth = rated.mean(axis=1)
    pairs = [*combinations(range(systems), 2)]
    gaps = np.array([truth[a] - truth[b] for a, b in pairs])
    for name in each:
        if name == "people alone":
            means = [_alone(sample_of(texts), ENDS) for texts in raw]
            differences = [
                _alone(difference_of(raw[a], raw[b]), (-SPAN, SPAN)) for a, b in pairs
            ]
        else:
            means = [corrected_mean(sample_of(texts), ENDS) for texts in used]
            differences = [
                corrected_mean(difference_of(used[a], used[b]), (-SPAN, SPAN))
                for a, b in pairs
            ]
        each[name].add(means, differences, gaps)


def lines(recorded: Recorded, draws: int) -> Iterator[str]:
    """Yield the tables, in Markdown."""
    systems, articles = recorded.rated["coherence"].shape
    summaries = systems * articles
    yield (
        f"{systems} systems, {articles} articles, {4 * summaries:,} judgments for US$ "
        f"{recorded.dollars:.2f} ({recorded.unread} not read)"
    )
    yield ""
    yield "| aspect | the judge alone: off by | pairs in experts' order |"
    yield "|---|---|---|"
    for aspect in ASPECTS:
        judged = np.nanmean(recorded.judged[aspect], axis=1)
        people = recorded.rated[aspect].mean(axis=1)
        off = judged - people
        same = [
            np.sign(judged[a] - judged[b]) == np.sign(people[a] - people[b])
            for a, b in combinations(range(systems), 2)
        ]
        yield (
            f"| {aspect} | {off.min():+.2f} to {off.max():+.2f} | {sum(same)} of "
            f"{len(same)} |"
        )
    yield ""
    yield (
        "| aspect | rated articles | experts cost US$ | by | mean ± | ratings saved "
        "| pairs told apart | wrong way round |"
    )
    yield "|---|---|---|---|---|---|---|---|"
    rng = np.random.default_rng(SEED)
    for aspect in ASPECTS:
        for n in RATED:
            each = {"people alone": Known(), "corrected": Known()}
            for _ in range(draws if n < articles else 1):
                chosen = rng.permutation(articles)[:n]
                known(recorded.judged[aspect], recorded.rated[aspect], chosen, each)
            price = n * systems * EXPERTS * PER_RATING
            alone = np.square(each["people alone"].widths).mean()
            for name, found in each.items():
                saved = 1 - np.square(found.widths).mean() / alone
                yield (
                    f"| {aspect} | {n} | {price:,.0f} | {name} | "
                    f"{np.mean(found.widths):.2f} | {100 * saved:.0f} % | "
                    f"{np.mean(found.apart):.1f} | {np.mean(found.wrong):.2f} |"
                )


def main() -> None:
    """Print the tables, or that there are no data."""
    data = Path(sys.argv[1]) if len(sys.argv) > 1 else Path("data")
    draws = int(sys.argv[2]) if len(sys.argv) > 2 else DRAWS
    if not (data / "summeval/model_annotations.12systems.jsonl").is_file():
        print(f"0 systems: {data} has no summeval/model_annotations.12systems.jsonl")
        return
    for line in lines(load(data), draws):
        print(line, flush=True)


if __name__ == "__main__":
    main()
