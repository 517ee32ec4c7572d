"""Read the base model's configuration, not its weights; write the training's needs."""

from judgescope.extensions.distill.training.train import check_student as run

__all__ = ["run"]
