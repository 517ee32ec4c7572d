"""What of a study cannot judge, change or check texts that are not English."""

from collections.abc import Collection, Iterator
from typing import Final

from judgescope.core.words import WITHOUT_SPACES, is_english, language_of, script_of
from judgescope.data.sentences import english_words
from judgescope.perturb.check_languages import holds_in
from judgescope.perturb.inject import ENGLISH_ERRORS
from judgescope.plan.study import Plan
from judgescope.schema.cards import (
    MadePerturbation,
    PerturbationKind,
    ProgramModel,
    RulePerturbation,
)

BY_WORDS: Final = ("delete_words", "exchange_words")
"""Rules that need words between blanks."""


def language_lines(plan: Plan, dataset: str, texts: Collection[str]) -> Iterator[str]:
    """Yield the language of a dataset's texts, and a line with the remedy for each part
    of the study that needs English or words between blanks.
    """
    card = plan.datasets[dataset]
    language = card.language or language_of(texts, english_words())
    if not card.language and not is_english(language):
        yield (
            f"language: {language} (a guess; write `language` in "
            f"datasets/{dataset}.yaml)"
        )
    if is_english(language):
        return
    script = script_of(texts)
    yield from _judges(plan, dataset, language)
    yield from _programs(plan, dataset, language, script)
    yield from _rationales(plan, dataset, language)
    yield from _perturbations(plan, dataset, language, script)


def _judges(plan: Plan, dataset: str, language: str) -> Iterator[str]:
    known = plan.judges
    judges = []
    for name in plan.judges_of(dataset):
        if name in known:
            judges.append(known[name])
    for judge in judges:
        if judge.form == "rules":
            yield (
                f"warning: {judge.judge} knows English words alone: it leaves spelling "
                f"out ({language}); compare it with other judges on the rest"
            )
    asked = [judge.judge for judge in judges if plan.is_prompted(judge.model)]
    if asked:
        yield (
            f"prompts are in English, the texts are not ({language}): "
            f"{', '.join(asked)}; write forms of your own if the model should be asked "
            "in their language"
        )


def _programs(plan: Plan, dataset: str, language: str, script: str) -> Iterator[str]:
    """Yield a line for each program that says that it cannot read such texts."""
    for name in plan.judges_of(dataset):
        model = None
        if name in plan.judges:
            model = plan.models.get(plan.judges[name].model)
        if not isinstance(model, ProgramModel):
            continue
        unread = ""
        if model.reads == "english":
            unread = f"reads English texts alone, these are not ({language})"
        elif model.reads == "spaced" and script in WITHOUT_SPACES:
            unread = f"needs blanks between words, which {script} does not have"
        if unread:
            yield (
                f"warning: {name} {unread}: its scores mean little; use chrf or "
                "rouge-l in its place"
            )


def _rationales(plan: Plan, dataset: str, language: str) -> Iterator[str]:
    """Yield a line if the sentiment of reasons is computed, which knows English."""
    known = []
    for name in plan.judges_of(dataset):
        if name in plan.judges:
            known.append(plan.judges[name])
    asked = any(plan.samples(judge.model) for judge in known)
    if asked and "robustness" in plan.study.methods:
        yield (
            "warning: statistic `sentiment` knows English words alone: a judge that "
            f"explains in another language, such as that of the texts ({language}), "
            "has about 0; ask for reasons in English, or disregard it"
        )


def _perturbations(
    plan: Plan, dataset: str, language: str, script: str
) -> Iterator[str]:
    kinds: tuple[PerturbationKind, ...] = ("once", "chain", "graded")
    for name in dict.fromkeys(name for name, _ in plan.perturbed(dataset, *kinds)):
        card = plan.perturbations[name]
        if isinstance(card, MadePerturbation):
            unchecked = []
            for check in card.checks:
                if not holds_in(check, language):
                    unchecked.append(check)
            if unchecked:
                yield (
                    f"warning: {name}: {', '.join(unchecked)} is not checked in "
                    f"{language}; look through its texts (report, page of texts)"
                )
        if not isinstance(card, RulePerturbation):
            continue
        english = [kind for kind in card.errors if kind in ENGLISH_ERRORS]
        if english:
            yield (
                f"warning: {name}: {', '.join(english)} need English texts "
                f"({language}); leave them out of `errors` (docs/languages.md)"
            )
        if card.rule in BY_WORDS and script in WITHOUT_SPACES:
            yield (
                f"warning: {name}: {script} has no blanks between words; {card.rule} "
                "takes each letter with its marks for a word"
            )
