"""Check that a judge can be trained on this machine, before its teacher is asked about anything."""

from pathlib import Path

from metajudge.canonical import canonical
from metajudge.command import Spec, run, write_text
from metajudge.schema.tables import read_table
from metajudge.training.base import card_of, opened
from metajudge.training.student import check_device, checked
from metajudge.training.train import prepare


def main(spec: Spec, *, card: str) -> None:
    """Read the base's configuration, not its weights; write what the training will take."""
    prepare(spec["recipe"]["device"])
    check_device(spec["recipe"]["device"])  # before the hub is asked for anything
    base = opened(card_of(card, spec))
    rows = read_table("samples", spec["sample"]).to_pylist()
    told = checked(base, spec["recipe"], rows, spec["max_tokens"])
    Path(spec["output"]).parent.mkdir(parents=True, exist_ok=True)
    write_text(Path(spec["output"]), canonical(told) + "\n")


if __name__ == "__main__":
    run(main, "card")
