"""A study with all its cards, unfolded into cells."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from judgescope.core.cells import DERIVED, in_order, joined, split
from judgescope.core.names import SYSTEMS, FilePrefix
from judgescope.core.paths import Paths
from judgescope.methods.registry import METHODS
from judgescope.plan.applicable import compares, computes, not_applicable
from judgescope.prompts import Templates, TextWords
from judgescope.schema import cards
from judgescope.schema.cards.engines import ENGINES


class StudyCell(NamedTuple):
    """The smallest unit of a study: one judge's scores of one set of targets, on all
    aspects.
    """

    dataset: str
    perturbation: str
    judge: str


class CellAspect(NamedTuple):
    """A part of a cell: its judge's scores on one aspect, in one criterion."""

    dataset: str
    perturbation: str
    judge: str
    aspect: str
    """`<aspect>` or `<aspect>.<criterion>`."""

    @property
    def cell(self) -> StudyCell:
        """Return the cell that this is a part of."""
        return StudyCell(*self[:3])


@dataclass(frozen=True)
class Plan:
    """A study with all its cards, and the folder of every card that has files."""

    study: cards.Study
    datasets: Mapping[str, cards.Dataset]
    models: Mapping[str, cards.Model]
    judges: Mapping[str, cards.Judge]
    derived: Mapping[str, cards.DerivedJudge]
    aspects: Mapping[str, cards.Aspect]
    criteria: Mapping[str, cards.Criterion]
    perturbations: Mapping[str, cards.AnyPerturbation]
    """The perturbations that the study names, and the sets of texts that its datasets
    contain."""
    weights: cards.TaskWeights | None
    expectations: cards.Expectations | None
    templates: Mapping[str, Templates]
    """Form -> its prompt templates, for judges and writers whose model reads
    prompts."""
    usual_tokens: Mapping[str, int]
    """Form -> number of tokens of a usual reply, if its template states it."""
    folders: Mapping[tuple[str, str], str]
    """(kind, id) -> the card's folder, relative to the working directory where
    possible."""
    results: str
    """The folder of the study's results."""
    tasks: Mapping[str, cards.TaskWords] = field(default_factory=dict)
    """Task -> how prompts speak about its texts."""

    def templates_of(self, form: str, system: str | None = None) -> dict[str, str]:
        """Return the templates of a form, and of its system message if there is one."""
        of_system = self.templates[system] if system else {}
        return {**of_system, **self.templates[form]}

    def templates_for(
        self, asked: Iterable[tuple[str, str | None]]
    ) -> dict[str, dict[str, str]]:
        """Return form -> its templates, for forms and their system messages."""
        templates: dict[str, dict[str, str]] = {}
        for form, system in asked:
            templates.setdefault(form, {}).update(self.templates_of(form, system))
        return templates

    def words(self, dataset: str) -> cards.TaskWords:
        """Return how prompts speak about a dataset's texts: by its card, else by its
        task.
        """
        return cards.TaskWords.of(self.datasets[dataset], self.tasks)

    def about(self, dataset: str) -> TextWords:
        """Return what prompts say about the kind of a dataset's texts."""
        words = self.words(dataset).model_dump(exclude={"part"})
        return TextWords(task=self.datasets[dataset].task, **words)

    @cached_property
    def paths(self) -> Paths:
        """The files of the study's results."""
        return Paths(self.results)

    @property
    def distillation(self) -> cards.Distillation:
        """Return how a judge of the study is trained; the study must have the key
        `distill`.
        """
        assert self.study.distill is not None
        return self.study.distill

    @cached_property
    def taught(self) -> list[str]:
        """Return the datasets for training, on which no judge is evaluated."""
        if self.study.distill:
            return self.study.distill.datasets
        return []

    @property
    def evaluated(self) -> list[str]:
        """Return the datasets on which judges are evaluated."""
        return [name for name in self.datasets if name not in self.taught]

    @cached_property
    def teachers(self) -> set[str]:
        """Return the judges of the training texts: the teacher and its members."""
        teacher = self.distillation.teacher
        teachers = {teacher}
        if teacher in self.derived:
            teachers.update(self.derived[teacher].members)
        return teachers

    @property
    def student(self) -> tuple[cards.Judge, cards.VllmModel]:
        """Return the judge that is trained and its model; the study must have one."""
        judge = self.judges[self.distillation.judge]
        model = self.models[judge.model]
        assert isinstance(model, cards.VllmModel)  # checks/study.py
        return judge, model

    def shown(self, judge: str) -> dict[str, cards.Dataset]:
        """Return the datasets whose texts a judge is asked about or trained on."""
        distill = self.study.distill
        if distill is None or judge == distill.judge or judge in self.teachers:
            return dict(self.datasets)
        return {name: self.datasets[name] for name in self.evaluated}

    def new_sets(self, dataset: str) -> list[str]:
        """Return the sets of texts that models write for training."""
        new = self.study.distill.write if dataset in self.taught else None  # type: ignore[union-attr]
        if new:
            return [f"{FilePrefix.WRITTEN}{model}" for model in new.models]
        return []

    def plain_aspects(self, dataset: str) -> list[str]:
        """Return the aspects of a dataset that the study covers, in the card's
        order.
        """
        wanted = self.study.aspects
        return [
            name
            for name in self.datasets[dataset].aspects
            if not wanted or name in wanted
        ]

    def aspects_of(self, dataset: str) -> list[str]:
        """Return these aspects as named in cells: each in every criterion that it
        has.
        """
        aspects = list[str]()
        for name in self.plain_aspects(dataset):
            aspects += [
                joined(name, criterion) for criterion in self._criteria_of(name)
            ]
        return aspects

    def _criteria_of(self, aspect: str) -> list[str] | list[None]:
        if not self.study.criteria:
            return [None]
        known = {*self.aspects[aspect].criteria, *self.criteria}
        return [name for name in self.study.criteria if name in known]

    def aspect_of(self, dataset: str, aspect: str) -> cards.Aspect:
        """Return an aspect in its wording for the dataset's task and the cell's
        criterion.
        """
        name, criterion = split(aspect)
        card = self.aspects[name].in_task(self.datasets[dataset].task)
        if criterion is None:
            return card
        return card.worded(card.criteria.get(criterion) or self.criteria[criterion])

    def scale_of(self, dataset: str, aspect: str) -> cards.RatedAspect:
        """Return the scale on which a dataset rates the aspect of a cell."""
        return self.datasets[dataset].aspects[split(aspect)[0]]

    def perturbed(
        self, dataset: str, *kinds: cards.PerturbationKind
    ) -> list[tuple[str, str]]:
        """Return (perturbation, degree) for every perturbation of a dataset.

        Only perturbations of the given `kinds`; by default those that make one text
        from each original. For a dataset of constructed texts, return its sets of
        texts: it has nothing to perturb.
        """
        wanted = kinds or ("once",)
        aspects = set(self.plain_aspects(dataset))
        perturbed = []
        for name, card in self.perturbations.items():
            if card.kind not in wanted or not self._is_of(dataset, card):
                continue
            if card.aspects and aspects.isdisjoint(card.aspects):
                continue
            perturbed += [(name, degree) for degree in card.degrees_for(dataset)]
        return perturbed

    def degrees_of(self, perturbation: str) -> dict[str, cards.Degree]:
        """Return the degrees of a perturbation in any dataset, the weakest first."""
        card = self.perturbations[perturbation]
        every_degree: dict[str, cards.Degree] = {}
        for degrees in (card.degrees, *card.datasets.values()):
            for name, degree in degrees.items():
                every_degree.setdefault(name, degree)
        return every_degree

    @cached_property
    def degrees(self) -> list[str]:
        """Return the names of all degrees of the study's perturbations."""
        names = dict[str, None]()
        for perturbation in self.perturbations:
            names |= dict.fromkeys(self.degrees_of(perturbation))
        return [*names] or [cards.SINGLE]

    def _is_of(self, dataset: str, card: cards.AnyPerturbation) -> bool:
        if isinstance(card, cards.GivenPerturbation):
            return card.dataset == dataset
        data = self.datasets[dataset]
        if not data.has_texts and isinstance(card, cards.RulePerturbation):
            # Ratings without texts: a rule has nothing to change.
            return False
        if data.gives_texts or dataset in self.taught:
            return False
        if card.perturbation in data.perturbed:
            return True
        return not card.tasks or data.task in card.tasks

    def target_sets(self, dataset: str) -> list[str]:
        """Return the values of `perturbation` in the dataset's cells that the methods
        need.
        """
        card = self.datasets[dataset]
        if dataset in self.taught:
            systems = []
            if card.has_systems:
                systems = [SYSTEMS]
            return [*systems, *self.new_sets(dataset)]
        read = set[str]()
        for method in self.study.methods:
            read.update(METHODS[method].texts)
        sets = []
        perturbed = list[tuple[str, str]]()
        if card.gives_texts:
            if "graded" in read:
                perturbed += self.perturbed(dataset, "chain", "graded")
        else:
            if card.has_systems and "systems" in read:
                sets.append(SYSTEMS)
            if "once" in read:
                perturbed += self.perturbed(dataset)
            perturbed += self.perturbed(dataset, "chain", "graded")
            if "attack" in read:
                perturbed += self.perturbed(dataset, "attack")
            if perturbed:
                sets.append("original")
        return sets + [f"{name}.{degree}" for name, degree in perturbed]

    def written(self, dataset: str) -> list[str]:
        """Return the target sets of a dataset whose texts a model writes or chooses."""
        written = {"original"} if self.improved(dataset) else set[str]()
        for name, card in self.perturbations.items():
            if isinstance(card, cards.GradedPerturbation):
                if card.model or card.anchors:
                    written.add(name)
            elif isinstance(card, cards.MadePerturbation):
                written.add(name)
        written -= self.datasets[dataset].perturbed.keys()
        sets = self.target_sets(dataset)
        return [name for name in sets if name.partition(".")[0] in written]

    def improved(self, dataset: str) -> cards.Improvement | None:
        """Return how a model writes a dataset's originals, or None if it does not."""
        card = self.datasets[dataset]
        # Ready perturbed texts were made from the originals of the data.
        ready = not card.perturbed.keys().isdisjoint(self.study.perturbations)
        untouched = ready or card.gives_texts or dataset in self.taught
        if untouched or not self.study.perturbations:
            return None
        return self.study.references or self.datasets[dataset].rewrite_references

    def judges_of(self, dataset: str) -> list[str]:
        """Return the judges that can judge any texts of a dataset, derived judges
        last.
        """
        judges = list[str]()
        for name, judge in self.judges.items():
            model = self.models[judge.model]
            # A recorded model may have rows about other datasets only.
            known = not isinstance(model, cards.RecordedModel) or model.judges(dataset)
            if known and self.rated_by(name, dataset):
                judges.append(name)
        for name, card in self.derived.items():
            if set(card.members) <= set(judges):
                judges.append(name)
        if dataset in self.taught:
            judges = [name for name in judges if name in self.teachers]
        return judges

    def compares(self, judge: str) -> bool:
        """Return whether a judge compares two texts at a time: it has votes, not
        scores.
        """
        card = self.judges.get(judge)
        if card is None:
            return False
        return compares(card, self.models[card.model], self.templates)

    def is_oracle(self, judge: str) -> bool:
        """Return whether a judge is the control that knows how many errors a text
        has.
        """
        card = self.judges.get(judge)
        if card is None:
            return False
        if card.form != cards.ORACLE:
            return False
        return self.models[card.model].engine == "control"

    def annotates(self, judge: str) -> bool:
        """Return whether a judge lists errors with their positions."""
        if judge in self.derived:
            return all(map(self.annotates, self.derived[judge].members))
        return self.judges[judge].annotates

    def repeats(self, judge: str) -> bool:
        """Return whether a judge gives several replies about one target or pair: draws
        or votes.
        """
        if judge not in self.judges:
            return False
        if self.judges[judge].draws > 1:
            return True
        return self.compares(judge)

    def is_asked(self, model: str) -> bool:
        """Return whether a model's answers are requested and kept in the reply
        store.
        """
        return ENGINES[self.models[model].engine].asked

    def samples(self, model: str) -> bool:
        """Return whether a model writes replies to prompts, token by token."""
        engine = ENGINES[self.models[model].engine]
        return engine.reads_prompts and not engine.decides

    def is_prompted(self, model: str) -> bool:
        """Return whether a model that is asked reads prompts."""
        return ENGINES[self.models[model].engine].reads_prompts

    def excluded(self, dataset: str, judge: str, perturbation: str) -> str | None:
        """Return why a judge judges no text of a set of targets, or None."""
        if judge in self.derived:
            reasons = (
                self.excluded(dataset, name, perturbation)
                for name in self.derived[judge].members
            )
            return next(filter(None, reasons), None)
        card = self.judges[judge]
        name = perturbation.partition(".")[0]
        only = card.perturbations
        if only is not None and name in self.perturbations and name not in only:
            return "left out by the judge's key perturbations"
        return not_applicable(
            card,
            self.models[card.model],
            self.datasets[dataset],
            perturbation,
            self.kind_of(perturbation),
            pairs=self.compares(judge),
        )

    def kind_of(self, perturbation: str) -> cards.PerturbationKind | None:
        """Return the kind of the set of texts `<id>.<degree>`, None for unperturbed
        texts.
        """
        card = self.perturbations.get(perturbation.partition(".")[0])
        return card.kind if card else None

    def amount(self, dataset: str, perturbation: str, degree: str) -> cards.Degree:
        """Return the amount of change of a perturbation in a degree."""
        return self.perturbations[perturbation].degrees_for(dataset)[degree]

    def lowered(self, dataset: str, perturbation: str) -> str:
        """Return the aspect that a set of texts lowers: the first that the dataset
        has.
        """
        aspects = self.perturbations[perturbation].aspects
        return next(name for name in aspects if name in self.plain_aspects(dataset))

    def most_errors(self, dataset: str, perturbation: str) -> int:
        """Return the maximum number of errors in a text of a set by its card, 0 in an
        original.
        """
        card = self.perturbations.get(perturbation)
        if not isinstance(card, cards.GradedPerturbation):
            return card.steps if card else 0
        if card.anchors:
            return card.anchors.max_errors
        lowered = self.lowered(dataset, perturbation)
        classes = self.datasets[dataset].aspects[lowered].values() or []
        return card.errors_per_rating * (len(classes) - 1)

    def rated_by(self, judge: str, dataset: str) -> list[str]:
        """Return the aspects of a dataset that a judge judges."""
        aspects = self.aspects_of(dataset)
        if judge in self.derived:
            for member in self.derived[judge].members:
                rated = set(self.rated_by(member, dataset))
                aspects = [name for name in aspects if name in rated]
            return aspects
        only = self.judges[judge].aspects
        return [name for name in aspects if not only or split(name)[0] in only]

    def all_cards(self) -> Iterator[tuple[str, str, cards.Card]]:
        """Yield (kind, id, card) of every card but the study's."""
        for kind in (
            "dataset",
            "model",
            "judge",
            "aspect",
            "criterion",
            "perturbation",
        ):
            for name, card in getattr(self, cards.FOLDERS[kind]).items():
                yield kind, name, card
        for name, card in self.derived.items():
            yield "judge", name, card
        if self.weights is not None:
            yield "weights", self.weights.weights, self.weights
        if self.expectations is not None:
            yield "expectations", self.expectations.expectations, self.expectations

    @cached_property
    def cell_aspects(self) -> list[CellAspect]:
        """Return every cell of the study, once for each aspect."""
        cells = list[CellAspect]()
        for dataset in self.datasets:
            for perturbation in self.target_sets(dataset):
                for judge in self.judges_of(dataset):
                    if self.excluded(dataset, judge, perturbation) is None:
                        aspects = self._judged_by(judge, dataset, perturbation)
                        cells += [
                            CellAspect(dataset, perturbation, judge, aspect)
                            for aspect in aspects
                        ]
        return cells

    def _judged_by(self, judge: str, dataset: str, perturbation: str) -> list[str]:
        """Return the aspects on which a judge judges these targets."""
        judged = self.judged_on(dataset, perturbation)
        aspects = self.rated_by(judge, dataset)
        return [name for name in aspects if split(name)[0] in judged]

    def judged_on(self, dataset: str, perturbation: str) -> list[str]:
        """Return the aspects on which a set of targets is judged: all, or those of its
        card.

        Perturbed texts are not judged on aspects whose labels have no order, because no
        label is worse.
        """
        card = self.perturbations.get(perturbation.partition(".")[0])
        only = card.aspects if card else []
        if card and card.kind == "graded":
            only = [self.lowered(dataset, card.perturbation)]
        scales = self.datasets[dataset].aspects
        aspects = self.plain_aspects(dataset)
        if only:
            aspects = [name for name in aspects if name in only]
        if perturbation != SYSTEMS:
            aspects = [name for name in aspects if scales[name].ordered]
        return aspects

    def cell_aspects_of(
        self, dataset: str, model: str | None = None
    ) -> list[CellAspect]:
        """Return a dataset's cells by aspect, or only those that one model answers."""
        cells = self._by_model.get((dataset, model), {})
        return list(chain.from_iterable(cells.values()))

    def cells_of(self, dataset: str, model: str | None = None) -> list[StudyCell]:
        """Return a dataset's cells, or only those that one model answers."""
        return list(self._by_model.get((dataset, model), {}))

    def aspects_in(self, cell: StudyCell) -> list[str]:
        """Return the aspects (with criteria) that a cell covers, in the order of its
        files.
        """
        return in_order(self._judged_by(cell.judge, cell.dataset, cell.perturbation))

    @cached_property
    def _by_model(
        self,
    ) -> dict[tuple[str, str | None], dict[StudyCell, list[CellAspect]]]:
        """Return (dataset, model) -> cell -> its aspects, and (dataset, None) -> all
        cells.

        Computed once, because rules ask for every dataset and model.
        """
        index: dict[tuple[str, str | None], dict[StudyCell, list[CellAspect]]] = {}
        for part in self.cell_aspects:
            for model in (None, self.model_of(part.judge)):
                cells = index.setdefault((part.dataset, model), {})
                cells.setdefault(part.cell, []).append(part)
        return index

    def model_of(self, judge: str) -> str:
        """Return the model that answers for a judge, DERIVED for one made from
        others.
        """
        if judge in self.derived:
            return DERIVED
        return self.judges[judge].model

    def file(self, out: str | Path, kind: str, cell: StudyCell | CellAspect) -> str:
        """Return the file of a cell's `replies`, `judgments` or `scores` in the
        results.
        """
        model = self.model_of(cell.judge)
        return Paths(str(out)).cell(
            kind, cell.dataset, model, cell.perturbation, cell.judge
        )

    def computes(self, model: str) -> bool:
        """Return whether a model's judges give scores without replies to parse."""
        return computes(self.models[model])


def is_selected(plan: Plan, dataset: str) -> bool:
    """Return whether a study judges only a part of a dataset's texts."""
    select = plan.datasets[dataset].select
    return bool(
        select.n
        or select.drop_systems
        or select.min_characters
        or dataset in plan.taught
    )
