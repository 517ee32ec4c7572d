"""The keys under which replies were paid for stay what they are: see
tests/support/golden.py.
"""

import pytest

import golden


@pytest.fixture(scope="module")
def written() -> golden.Keys:
    return golden.written()


@pytest.mark.heavy
def test_no_key_of_a_reply_has_changed(written: golden.Keys) -> None:
    assert golden.changed(written, golden.keys()) == []


def test_what_has_changed_is_named() -> None:
    before = {"a": "1", "b": "2", "c": "3"}
    after = {"a": "1", "b": "9", "d": "3"}
    assert golden.changed(before, after) == ["changed: b", "gone: c", "new: d"]


def test_every_way_to_ask_has_keys(written: golden.Keys) -> None:
    assert len(written) >= 300
    # a name says the study, the stage and the judge or the file
    stages = {tuple(name.split("/")[:2]) for name in written}
    assert stages >= {
        *(("forms", "judges"), ("forms", "analyses"), ("models", "judges")),
        *(("wordings", "judges"), ("attacked", "judges"), ("ensemble", "merged")),
        *(("written", "texts"), ("written", "originals"), ("lessons", "lessons")),
        *(("lessons", "judges"), ("drafted", "drafts"), ("graded", "originals")),
        *(("graded", "rated"), ("graded", "candidates"), ("graded", "compared")),
    }
    judges = {
        name.split("/")[2] for name in written if name.startswith(("forms", "models"))
    }
    assert judges >= {
        *("pairwise", "wrong-hint", "choice", "object", "annotator", "marked-shots"),
        *(
            "analyze-one-shot",
            "probable",
            "by-vllm-tuned",
            "by-counter",
            "own-seed",
            "some",
        ),
    }
