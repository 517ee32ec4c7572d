"""Train a judge, or resume from the last checkpoint; write adapter and tables."""

from judgescope.extensions.distill.training.train import train_judge as run

__all__ = ["run"]
