"""Let a model write why rated texts deserve their ratings, for judges that are shown them."""

from judgescope.core.cells import split
from judgescope.engines.subjects import Subjects
from judgescope.parsing.written import without_rating
from judgescope.perturb.writing import answers_of, explained
from judgescope.replies.asking import asker
from judgescope.replies.few_shot import questions
from judgescope.replies.specs import AnalyseSpec
from judgescope.schema.tables import table_of, write_table


def main(spec: AnalyseSpec, *, card: str, store: str, budget: str) -> None:
    """Find the demonstrations of every judge; write their analyses, and the replies behind them."""
    subjects = Subjects(spec.results, spec.dataset, spec.seed)
    analyses, answers = [], []
    with asker(spec.model, card=card, store=store, budget=budget) as asked:
        for judge in spec.judges:
            for question, made in explained(spec, list(questions(spec, judge, subjects)), *asked):
                aspect, criterion = split(question.aspect)
                known = {"aspect": aspect, "criterion": criterion}
                text = {"target": question.target, "text": without_rating(made.text)}
                about = {
                    "dataset": spec.dataset,
                    "judge": judge,
                    "rating": question.shown["rating"],
                }
                analyses.append({**about, **known, **text})
                answers += answers_of(judge, question.target, made, "analyze", **known)
    write_table("analyses", table_of("analyses", analyses), spec.output)
    write_table("answers", table_of("answers", answers), spec.replies)
