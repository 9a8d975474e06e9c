"""A training as the user describes it, without any log: so many epochs of a network that has a name, a speed or a size."""

from __future__ import annotations

from hashlib import blake2b

from msgspec import Struct
from msgspec.structs import replace

from costcalc.evidence import Evidence
from costcalc.evidence.hub import SIZE_WIDTH, effect_of_size
from costcalc.evidence.timed_networks import OF_DATA, find_timed_network
from costcalc.query import EstimateQuery
from costcalc.recipes import OwnRecipe
from costcalc.throughput.chip_hours import ChipHours
from costcalc.throughput.fitted_parameters import FittedParameters, HalfWidth
from costcalc.throughput.workloads import REFERENCE_SIZE
from costcalc.training import DATA_SET_GB, IMAGES_PER_EPOCH, OWN_DATA, YOU, Compilation, MetricEvaluation, Model, Phase
from own_runs.speeds import FRAMEWORK, OWN_CODE

RECIPE, YEAR = "your-epochs", 2022


class Described(Struct, frozen=True):
    """What a question says of its training: the network's name or ANY, how many epochs reach a `target` in which metric, and how
    large the network (millions of parameters, 1e9 multiply-adds) and its data set are, as far as that is said. It is a plain
    loop, which runs as PyTorch's do unless the question says more."""

    model: str
    epochs: float
    metric: str
    target: float
    parameters: float | None = None
    gmacs: float | None = None
    samples_per_epoch: int | None = None
    precision: str = "amp"
    compilation: Compilation = "eager"

    @classmethod
    def of(cls, query: EstimateQuery) -> Described | None:
        """What the question describes; None if it leaves the epochs to recipes."""
        if query.epochs is None:
            return None
        sizes = query.parameters, query.gmacs, query.samples_per_epoch
        timed = find_timed_network(query.model)
        running = query.precision or (timed.precision if timed else "amp"), query.compilation or "eager"
        return cls(query.model, query.epochs, query.metric, query.target, *sizes, *running)

    def evidence(self, beside: Evidence) -> Evidence:
        """The evidence for questions about it, which have this recipe alone."""
        network, timed = beside.models.get(self.model) or self._network(), find_timed_network(self.model)
        known = replace(
            beside,
            models={**beside.models, network.name: network},
            recipes=(self._recipe(network),),
            schedules=(),
            own_speeds=beside.own_speeds_of(network.name),
            fitted=beside.fitted if network.name in beside.models else _of_size(network, beside.fitted),
            version=f"{beside.version}+{blake2b(repr(self).encode(), digest_size=4).hexdigest()}",
            later=(),
            of_own_run=True,
        )
        if timed is None:
            return known
        speeds = ChipHours(timed.speed, timed.kind, beside.accelerators, OF_DATA, timed.needed_gib)
        return replace(known, own_speeds=(), make_speeds=lambda _: speeds)

    def _network(self) -> Model:
        has_size = self.parameters is not None and self.gmacs is not None
        return Model(
            name=self.model,
            aliases=(),
            family=self.model,
            parameters_millions=self.parameters,
            gmacs=self.gmacs,
            image_size=REFERENCE_SIZE,
            source="your question",
            speed_width=SIZE_WIDTH if has_size else 0.0,
        )

    def _recipe(self, network: Model) -> OwnRecipe:
        own_data = self.samples_per_epoch not in (None, IMAGES_PER_EPOCH)
        return OwnRecipe(
            name=RECIPE,
            model=network.name,
            organisation=YOU,
            family=network.family,
            framework=YOU,
            framework_family=FRAMEWORK,
            stack=OWN_DATA if own_data else OWN_CODE,
            precision=self.precision,
            compilation=self.compilation,
            scheduled_epochs=self.epochs,
            runs=1,
            is_log=False,
            year=YEAR,
            source="your question",
            phases=(Phase(network.image_size or REFERENCE_SIZE, 0.0, self.epochs),),
            evaluations=(MetricEvaluation(self.epochs, None, value=self.target),),
            published="2000-01-01",  # as old as any question
            code="own",
            plain=True,
            samples_per_epoch=self.samples_per_epoch or IMAGES_PER_EPOCH,
            data_set_gb=0.0 if own_data else DATA_SET_GB,
            metric=self.metric,
            by_word=True,
        )


def _of_size(network: Model, fitted: FittedParameters) -> FittedParameters:
    """The parameters fitted to networks of that size; without a size, the range is wide by rule."""
    effects, widths = {**fitted.transfer.effects}, {**fitted.widths}
    if network.gmacs is None:
        widths["network"] = HalfWidth(fitted.widths["code"].ln, by_rule=True)
    else:
        effects["model", network.name] = effect_of_size(network.gmacs)
    transfer = replace(fitted.transfer, models={**fitted.transfer.models, network.name: network}, effects=effects)
    return replace(fitted, transfer=transfer, widths=widths)
