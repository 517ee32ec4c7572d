"""Ask one model all that a study wants to know of it about one dataset; one reply file per cell."""

from pathlib import Path
from typing import Any

from metajudge.cells import unpack
from metajudge.command import run
from metajudge.engines import asking
from metajudge.engines.subjects import Subjects
from metajudge.replies import Store, obtain
from metajudge.replies.judging import questions, rows
from metajudge.schema.cards import Aspect, Judge, RatedAspect
from metajudge.schema.loading import read_card
from metajudge.schema.tables import table_of, write_table


def main(spec: dict[str, Any], *, card: str, store: str) -> None:
    """Collect the requests of all cells, obtain the replies, write every cell's."""
    out, dataset = spec["output"], spec["dataset"]
    model = read_card("model", Path(card)).model_copy(update=spec["model"])
    judges = {name: Judge(**told) for name, told in spec["judges"].items()}
    targets = Subjects(out, dataset)
    cells = {}
    for cell in unpack(spec["cells"]):
        perturbation, judge, aspect = cell
        cells[cell] = questions(
            model,
            judges[judge],
            Aspect(**spec["aspects"][aspect]),
            RatedAspect(**spec["scales"][aspect]),
            targets.of(perturbation),
            spec["templates"][judges[judge].form],
            seed=spec["seed"],
        )
    requests = (question.request for asked in cells.values() for question in asked)
    with Store(Path(store), model.served_name) as shard:
        replies = obtain(requests, shard, asking(model))
    for (perturbation, judge, aspect), asked in cells.items():
        path = f"{out}/replies/{dataset}/{perturbation}/{judge}/{aspect}.parquet"
        table = table_of("answers", rows(judges[judge], aspect, asked, replies))
        write_table("answers", table, path)


if __name__ == "__main__":
    run(main, "card", "store")
