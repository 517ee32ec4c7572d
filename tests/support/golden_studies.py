"""What golden.py asks about: stand-in data, cards that are not shipped, studies,
replies.

All of it enters the keys of tests/golden/keys.json: what stands here is not changed.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judgescope.data.files import sha256_of
from judgescope.schema.cards import FOLDERS
from judgescope.schema.cards.vllm import ADAPTER_FILES
from running import HOME
from scripted import Body, Said, replies
from study import Card, Study, shipped

ITEMS = 6
SYSTEMS = ("ash", "birch")
TOWNS = ("Aldport", "Brackley", "Corvane", "Dunmoor", "Elmwick", "Farhaven")


def _news(item: int) -> dict[str, Any]:
    town, year = TOWNS[item], 1990 + item
    source = (
        f"The council of {town} met on Monday. It voted to repair the old bridge, "
        f"which was closed in {year} after a flood. Work will start in May and cost "
        "two million pounds."
    )
    return {
        "id": f"n{item}",
        "source": source,
        "gold": f"{town} will repair its bridge. It has been closed since {year}.",
        "other": f"The council of {town} voted for a new bridge, and work starts in "
        "May.",
        "ash": f"{town} will repair the old bridge. The work starts in May. It is not "
        "cheap.",
        "birch": f"The bridge of {town} were closed in {year + item % 2}. People likes "
        "it.",
    }


def _talk(item: int) -> dict[str, Any]:
    town = TOWNS[item]
    return {
        "id": f"t{item}",
        "source": f"A: Have you ever been to {town}?\nB: Once, as a child. Why do you "
        "ask?",
        "gold": f"I may move to {town} next year. I have heard that its market is "
        "lovely.",
        "other": f"My sister lives in {town}, and she wants me to visit her in spring.",
        "ash": f"I might visit {town} soon. They say the market there is worth a trip.",
        "birch": f"{town} is a town. Towns are places. I do not know about places.",
    }


def _claims(item: int) -> dict[str, Any]:
    town = TOWNS[item]
    return {
        "id": f"c{item}",
        "source": f"Because the road to {town} was icy, the bus came an hour late.",
        "gold": f"Ice on the road to {town} delayed the bus by one hour.",
        "other": f"The bus was an hour late, as the road to {town} had frozen over.",
        "ash": f"The bus to {town} came late because of ice. It was an hour late.",
        "birch": f"A bus was late. The road to {town} is long.",
    }


STEPS = {"min": 1, "max": 5, "step": 1}
TEXTS: dict[str, tuple[Callable[[int], dict[str, Any]], str, dict[str, Card]]] = {
    "golden-news": (
        _news,
        "summarization",
        {
            "coherence": STEPS,
            "fluency": {**STEPS, "source_visible": False},
            "consistency": {
                "min": 0,
                "max": 1,
                "step": 1,
                "labels": ["wrong", "right"],
            },
            "relevance": {"min": 1, "max": 5, "step": 0.5},
        },
    ),
    "golden-talk": (
        _talk,
        "dialogue",
        {"naturalness": {"min": 1, "max": 3, "step": 1}},
    ),
    "golden-claims": (_claims, "paraphrase", {"adequacy": {"min": 0, "max": 100}}),
}
"""Dataset -> its items, its task, and the scales of its aspects."""


def _ratings(item: int, system: int, scale: Card) -> tuple[float, float]:
    """Return what two raters say: values of the scale, the lowest and the highest among
    them.
    """
    count = round((scale["max"] - scale["min"]) / scale.get("step", 25))
    places = ((item + 2 * system) % (count + 1), (item + system) % (count + 1))
    low, high = (scale["min"] + location * scale.get("step", 25) for location in places)
    return low, high


def write_dataset(folder: Path, name: str, **keys: Any) -> None:
    """Write a stand-in dataset and its card."""
    make, task, aspects = TEXTS[name]
    rows = []
    for item in range(ITEMS):
        texts = make(item)
        for number, system in enumerate(SYSTEMS):
            row = {key: texts[key] for key in ("id", "source", "gold", "other")}
            row |= {"by": system, "text": texts[system]}
            for aspect, scale in aspects.items():
                each, two = _ratings(item, number, scale)
                row |= {f"{aspect}_1": each, f"{aspect}_2": two}
            rows.append(row)
    lines = [json.dumps(row) + "\n" for row in rows]
    (folder / f"{name}.jsonl").write_text("".join(lines), encoding="utf-8")
    card: Card = {"dataset": name, "name": name, "task": task, "format": "table"}
    card |= {"files": str(folder / f"{name}.jsonl"), "licence": "x", "citation": "x"}
    columns: Card = {"item": "id", "source": "source", "references": ["gold", "other"]}
    columns |= {"system": "by", "text": "text"}
    columns["ratings"] = {aspect: [f"{aspect}_1", f"{aspect}_2"] for aspect in aspects}
    write(folder, "dataset", card | {"columns": columns, "aspects": aspects} | keys)


def write(folder: Path, kind: str, card: Card) -> None:
    """Write a card; its id is its file's name."""
    keys = {key: value for key, value in card.items() if key != kind}
    Study(folder).card(FOLDERS[kind], card[kind], **keys)


@dataclass(frozen=True)
class GoldenStudy:
    """A study: its cards beside the shipped ones, and the stages that ask in it."""

    name: str
    stages: Sequence[str]
    keys: Card
    cards: Sequence[tuple[str, Card]] = ()
    datasets: dict[str, Card] = field(default_factory=lambda: {"golden-news": {}})

    @property
    def card(self) -> Card:
        """Return the study's card."""
        datasets = [name for name in self.datasets if name not in self._taught]
        return {"study": self.name, "seed": 11, "datasets": datasets, **self.keys}

    @property
    def _taught(self) -> list[str]:
        taught: list[str] = self.keys.get("distill", {}).get("datasets", [])
        return taught

    def write(self, folder: Path, url: str) -> None:
        """Write data and cards; every model behind an endpoint is asked at `url`."""
        folder.mkdir(parents=True)
        for name, keys in self.datasets.items():
            write_dataset(folder, name, **keys)
        for path in (HOME / "config" / "models").glob("*.yaml"):
            card = shipped("models", path.stem)
            if card["engine"] == "openai":
                write(folder, "model", card | {"base_url": url, "probe": False})
        adapter = folder / "adapter"
        adapter.mkdir()
        for number, name in enumerate(ADAPTER_FILES):
            (adapter / name).write_bytes(bytes([number]))
        for kind, changed in self.cards:
            card = dict(changed)
            if card.get("engine") == "openai":
                card |= {"base_url": url, "probe": False}
            if card.get("adapter") == "here":
                files = [(path, dict[str, str]()) for path in sorted(adapter.iterdir())]
                card["adapter"] = {"path": str(adapter), "sha256": sha256_of(files)}
            write(folder, kind, card)


def judge(name: str, form: str, **keys: Any) -> tuple[str, Card]:
    """Return the card of a judge."""
    return "judge", {"judge": name, "model": "judge", "form": form, **keys}


ANALYSED = {
    "n": 2,
    "analyses": {"model": "judge", "form": "analysis", "temperature": 0.5},
}
OWN = [
    judge("choice", "score-only", structured="choice"),
    judge("object", "score-only", structured="json"),
    judge("probable", "score-only", estimator="logprob_mean"),
    judge("probable-five", "rate-explain", estimator="logprob_mean", top_logprobs=5),
    judge("own-seed", "score-only", seed="study", temperature=0.7),
    judge("own-steps", "score-only", scale={**STEPS, "step": 0.5}),
    judge(
        "own-words", "score-only", scale={**STEPS, "labels": ["a", "b", "c", "d", "e"]}
    ),
    judge("some", "score-only", share=0.5, top_p=0.9),
    judge("like", "rubric", use_reference=True),
    judge("neighbours", "compare", max_tokens=64),
    judge("marked-pairs", "compare", pairs="all", spotlight=True, max_tokens=64),
    judge("marked-shots", "score-shots", shots={"n": 2}, spotlight=True),
    judge("marked-analyses", "analyze-shots", shots=ANALYSED, spotlight=True),
    judge("explained", "explain-shots", shots=ANALYSED),
    judge("marked-hint", "rate-hinted", hint={"baseline": "knowledge"}, spotlight=True),
    judge("marked-errors", "annotate", annotation={}, spotlight=True),
    judge("percent", "annotate", annotation={"score": "percent", "rules": False}),
    judge("sorted-errors", "annotate", annotation={"categories": ["Grammar", "Sense"]}),
    judge("taught-form", "distilled", annotation={"score": "percent", "rules": False}),
    judge("quality", "rate-own", temperature=0.3, max_tokens=99),
]
OWN.append(("judge", shipped("judges", "steps", aspects=["coherence", "fluency"])))
for _, _card in OWN[:4]:
    _card["aspects"] = ["coherence", "consistency", "fluency"]
FORMS = [
    *("analyze-five-shot", "analyze-one-shot", "analyze-rate", "analyze-rate-greedy"),
    *("annotator", "annotator-exchanged", "annotator-integers", "annotator-no-rules"),
    *(
        "annotator-severity-words",
        "critique",
        "error-list",
        "hundred-points",
        "knowledge",
    ),
    "knowledge-twice",
    *("knowledge-spotlight", "nameless-hint", "own-understanding", "pairwise"),
    *("rate-explain", "rate-explain-greedy", "reasoning", "right-hint", "rubric"),
    *("score-five-shot", "score-one-shot", "score-only", "score-only-greedy"),
    *("score-only-spotlight", "step-by-step", "ten-draws", "ten-points", "two-shots"),
    *("pairwise-ten-draws", "reasoning-first"),
    "wrong-hint",
]
"""The shipped judges of the model `judge`."""
MODELS: list[Card] = [
    {"model": "plain"},
    {"model": "renamed", "name": "its/own-name"},
    {"model": "pinned", "revision": "4b825dc"},
    {"model": "awq", "variant": "awq"},
    {
        "model": "thinking",
        "extra_body": {"chat_template_kwargs": {"enable_thinking": True}},
    },
    {
        "model": "unsent",
        "field_names": {"temperature": None, "top_p": None, "max_tokens": "max"},
    },
]
WEIGHTS: list[Card] = [
    {"model": "vllm-plain"},
    {"model": "vllm-pinned", "revision": "4b825dc", "dtype": "bfloat16"},
    {"model": "vllm-small", "quantization": "fp8", "variant": "mine"},
    {"model": "vllm-args", "model_args": {"seed": 3}, "extra_body": {"top_k": 4}},
    {"model": "vllm-tuned", "adapter": "here"},
    {"model": "vllm-served", "mode": "served", "data_parallel": 2},
]
PROGRAMS: list[Card] = [
    {
        "model": "counter",
        "argv": ["wc", "-w"],
        "inputs": ["aspect", "source", "references"],
    },
    {"model": "blind", "argv": ["wc", "-c"], "inputs": [], "variant": "two"},
    {"model": "sighted", "argv": ["{python}", "-c", "pass"]},
]


def _behind() -> list[tuple[str, Card]]:
    """Return the cards of models of every engine that is asked, each with judges."""
    cards: list[tuple[str, Card]] = []
    for engine, several in (
        ("openai", MODELS),
        ("vllm", WEIGHTS),
        ("command", PROGRAMS),
    ):
        for model in several:
            name = model["model"]
            card = {
                "engine": engine,
                **({"name": "org/weights"} if engine == "vllm" else {}),
            }
            cards.append(("model", card | model))
            if engine == "command":
                cards.append(
                    ("judge", {"judge": f"by-{name}", "model": name, "seed": "study"})
                )
                continue
            cards.append(
                judge(f"by-{name}", "score-only", model=name, temperature=1, draws=3)
            )
            cards.append(judge(f"pairs-{name}", "compare", model=name))
    fixed = {"estimator": "logprob_mean", "structured": "choice"}
    cards.append(judge("vllm-fixed", "score-only", model="vllm-plain", **fixed))
    cards.append(
        judge("vllm-object", "score-only", model="vllm-plain", structured="json")
    )
    return cards


WRITERS = [
    *(
        "abbreviation",
        "complement",
        "complex-sentence",
        "conflicting-fact",
        "continuation",
    ),
    *("different-entity", "fictional-entities", "grammatical-errors", "hypernym"),
    *(
        "improper-connective",
        "incorrect-verb-form",
        "inversion",
        "negation",
        "passive-voice",
    ),
    *("repetition", "rewriting-insertion", "uncommon-phrase"),
]
"""The shipped perturbations that a model writes, of texts by themselves."""
ROWS = ["local-llm-coherence", "local-llm-fluency", "local-llm-naturalness"]
"""Those that it writes in a row."""
CRITERIA = [
    *("default", "simplified", "detailed", "term", "list", "empty", "meaningless"),
    *("term-only", "description-only", "ignore-others", "naming-others"),
]
ATTACKS = [
    *("claimed-verdict", "verdict-before", "json-verdict", "ignore-the-above"),
    *("closing-delimiter", "fake-turn", "chat-tokens"),
]
MEMBERS = [f"annotator-{number}" for number in range(1, 6)]


def studies() -> list[GoldenStudy]:
    """Return the studies, but for the one that builds texts of every rating."""
    judged = ["texts", "analyses", "judges"]
    forms: Card = {"judges": [*FORMS, *(card["judge"] for _, card in OWN)]}
    every: dict[str, Card] = {"golden-news": {}, "golden-talk": {}}
    behind = _behind()
    asked = [
        "word-variety",
        *(card["judge"] for kind, card in behind if kind == "judge"),
    ]
    improve = {"model": "generator", "form": "improve-paraphrase", "max_tokens": 256}
    writing = {**every, "golden-claims": {"rewrite_references": improve}}
    attacks = [("perturbation", shipped("perturbations", name)) for name in ATTACKS]
    for _, card in attacks:
        card["aspects"] = ["coherence"]
    rows = [("perturbation", shipped("perturbations", name, steps=2)) for name in ROWS]
    distill: Card = {
        "teacher": "ensemble",
        "judge": "distilled",
        "datasets": ["golden-talk"],
    }
    distill |= {"write": {"models": MEMBERS[:2]}}
    learning: Card = {"judges": [*MEMBERS, "ensemble", "distilled"], "distill": distill}
    greedy: Card = {"judges": ["score-only-greedy"]}
    drafting: Card = {"drafter": "generator", "perturbations": ["vaguer", ROWS[0]]}
    vaguer = {
        **{
            "perturbation": "vaguer",
            "name": "vaguer",
            "level": "word",
            "method": "llm",
        },
        **{
            "model": "generator",
            "form": "adjust-steps",
            "adjustment": "Say it more vaguely.",
        },
        "degrees": {"minor": {"k": 1}, "major": {"min_edits": 2}},
    }
    bare = {
        "aspect": "coherence",
        "name": "Coherence",
        "definition": "How well it hangs together.",
    }
    return [
        GoldenStudy(
            "forms",
            judged,
            {**forms, "methods": ["agreement", "perspectives"]},
            OWN,
            every,
        ),
        GoldenStudy("models", judged, _of(asked, ["coherence"]), behind),
        GoldenStudy(
            "wordings",
            ["texts", "judges"],
            _of(["score-only-greedy", "critique", "annotator"], ["adequacy", "fluency"])
            | {"criteria": CRITERIA},
            datasets={"golden-claims": {}, "golden-news": {}},
        ),
        GoldenStudy(
            "attacked",
            ["texts", "judges"],
            _of(["score-only-greedy", "score-only-spotlight"], ["coherence"])
            | {"perturbations": ATTACKS, "methods": ["robustness"]},
            attacks,
        ),
        GoldenStudy(
            "written",
            ["texts"],
            {
                **greedy,
                "share": 0.3,
                "methods": ["discernment"],
                "perturbations": [*WRITERS, *ROWS],
            },
            rows,
            writing,
        ),
        GoldenStudy(
            "ensemble",
            ["texts", "merges", "judges"],
            _of([*MEMBERS, "ensemble", "ensemble-by-rule"], ["coherence", "fluency"])
            | {"methods": ["agreement", "ensemble"]},
        ),
        GoldenStudy(
            "lessons",
            ["texts", "lessons", "judges"],
            {
                **learning,
                "methods": ["agreement"],
                "aspects": ["coherence", "naturalness"],
            },
            datasets={"golden-news": {}, "golden-talk": {}},
        ),
        GoldenStudy(
            "drafted",
            ["drafts"],
            {
                **greedy,
                "methods": ["discernment"],
                "aspects": ["coherence"],
                **drafting,
            },
            [("perturbation", vaguer), ("aspect", bare)],
        ),
    ]


def _of(judges: Sequence[str], aspects: Sequence[str]) -> Card:
    return {"judges": [*judges], "aspects": [*aspects], "methods": ["agreement"]}


# --- what the models say ---

SHOWN = re.compile(r"^The [a-z ]+:\n(.+?)$", re.MULTILINE | re.DOTALL)
"""In prompts of writers, the text that is to be changed."""
ANNOTATED = re.compile(r"^[A-Z][a-z]+ to annotate:\n", re.MULTILINE)
"""In prompts of annotators, what stands before the text."""
RATING = re.compile(r"^Their rating: (.+)$", re.MULTILINE)
ERRORS = """Error 1:
Location: {}
Explanation: It is out of place here.
Severity: 3

Overall score: Fair
Explanation of the score: One error."""


STEPS_DRAFTED = [
    "1. Read the whole text twice, and slowly.",
    "2. Look for what does not belong where it is.",
    "3. Weigh how much of it disturbs a reader.",
]
PARTS_DRAFTED = [
    "Thread: All sentences of the text serve one subject.",
    "Order: What is told comes in an order that a reader can follow.",
    "Links: Words that join sentences fit what they join.",
]


def say(body: Body) -> Said:
    """Answer as a writer, an analyst, an annotator or a drafter would, by the prompt
    alone.
    """
    prompt = body["messages"][-1]["content"]
    return replies(*[_said(prompt, body["model"]) for _ in range(body.get("n", 1))])


def _said(prompt: str, model: str) -> str:
    again = "An earlier attempt cannot be used" in prompt
    if (rating := RATING.search(prompt)) is not None:
        if not again and "Aldport" in prompt:
            return "It is what it is."
        return f"Some of it is well done, some is not.\nRating: {rating[1]}"
    if model.startswith("annotator") and (marked := ANNOTATED.search(prompt)):
        text = prompt[marked.end() :].split()
        return ERRORS.format(" ".join(text[int(model[-1]) % 3 :][:2]))
    if "numbered list" in prompt:
        return "\n".join(STEPS_DRAFTED) if again else "1. No."
    if "a short name, a colon" in prompt:
        return "\n".join(PARTS_DRAFTED) if again else "Thread"
    if not again and any(town in prompt for town in TOWNS[::2]):
        return "I cannot help with that."
    shown = SHOWN.search(prompt)
    return (
        f"{shown[1]} Nobody was surprised."
        if shown
        else "A short text of three or four words."
    )
