"""What several tests of data originals share."""

COLUMNS = [
    "InputStoryid",
    *(f"InputSentence{number}" for number in range(1, 5)),
    "RandomFifthSentenceQuiz1",
    "RandomFifthSentenceQuiz2",
    "AnswerRightEnding",
]


XML = "<dataset><collection>{}</collection></dataset>"


def xml(documents: list[str]) -> str:
    """Return documents in the published form: paragraphs of segments, source before reference."""
    runs: list[list[str]] = []
    for name in documents:
        if runs and runs[-1][0] == name:
            runs[-1].append(name)
        else:
            runs.append([name])
    body = ""
    for run in runs:
        segments = "".join(f"<p><seg id='{n}'>text</seg></p>" for n, _ in enumerate(run, start=1))
        body += f"<doc id='{run[0]}'><src lang='de'>{segments}</src>"
        body += f"<ref lang='en'>{segments}</ref><hyp>{segments}</hyp></doc>"
    return XML.format(body)
