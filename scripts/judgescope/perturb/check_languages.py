"""The languages in which the checks of made texts hold.

Statistics say where a kind of change was not checked; they must not load, or run again
with, all that reads replies.
"""

from collections.abc import Sequence

from judgescope.core.words import ENGLISH, is_english
from judgescope.perturb.edit_checks import LANGUAGES


def holds_in(check: str, language: str) -> bool:
    """Return whether a check holds in a language: a tag, or a guess (`core.words`).

    Checks of the kind of change know a language's words; all others hold in any.

    >>> holds_in("negation", "de"), holds_in("negation", "en-GB")
    (False, True)
    >>> holds_in("length", "de")
    True
    """
    languages = LANGUAGES.get(check)
    if languages is None:
        return True
    tag = ENGLISH
    if not is_english(language):
        tag = language.partition("-")[0].lower()
    return tag in languages


def unchecked_kind(
    perturbation: str, checks: Sequence[str], language: str
) -> str | None:
    """Return why the kind of a perturbation's changes is not checked; None if it is, or
    if it is of no kind.

    >>> unchecked_kind("negation", ["length", "negation"], "de")
    'no check for de'
    >>> unchecked_kind("negation", ["length"], "en")
    'its card names no check of it'
    """
    kinds = [check for check in checks if check in LANGUAGES]
    if any(not holds_in(check, language) for check in kinds):
        return f"no check for {language}"
    known = perturbation.replace("-", "_") in LANGUAGES
    if known and not kinds:
        return "its card names no check of it"
    return None
