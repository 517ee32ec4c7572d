"""The texts that datasets bring, with their ratings or in their order: what a study has of them."""

from collections.abc import Collection, Mapping

from judgescope.core.errors import UserError
from judgescope.core.slugs import slug
from judgescope.schema.cards import GIVEN_ROLES, Dataset, GivenPerturbation


def given_sets(
    datasets: Mapping[str, Dataset], named: Collection[str], source: str
) -> dict[str, GivenPerturbation]:
    """Return the sets of texts of all datasets that bring some, one for each role and aspect.

    `named` are the perturbations that the study names, `source` is its file. Raises UserError for
    one that has the id of a set, and where there is nothing that it could damage.
    """
    bringing = [card for card in datasets.values() if card.gives_texts]
    if named and len(bringing) == len(datasets):
        raise UserError(
            "the study's datasets bring their texts: there is nothing to damage",
            where=f"{source}, key perturbations",
            got=min(named),
            todo="leave the perturbations out, or add a dataset with references",
        )
    sets = [_set(card, role, aspect) for card in bringing for role, aspect in _sets(card)]
    found: dict[str, GivenPerturbation] = {}
    for one in sets:
        if one.perturbation in named or one.perturbation in found:
            raise UserError(
                "texts that a dataset brings have the id of other texts",
                where=f"{source}, keys datasets and perturbations",
                got=one.perturbation,
                todo="give the perturbation or the dataset another id",
            )
        found[one.perturbation] = one
    return found


def _sets(card: Dataset) -> list[tuple[str, str]]:
    return [(role, aspect) for role in GIVEN_ROLES if role in card.files for aspect in card.aspects]


def _set(card: Dataset, role: str, aspect: str) -> GivenPerturbation:
    told = {"global": "texts of every rating", "local": "texts in a row"}[role]
    return GivenPerturbation.model_validate(
        {
            "perturbation": slug(f"{card.dataset}-{role}-{aspect}"),
            "name": f"{told} of {card.name}: {aspect}",
            "dataset": card.dataset,
            "role": role,
            "aspects": [aspect],
        }
    )
