"""The law of tokens as what says how fast a training is on each cluster: one sample is one token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from costcalc.hardware import Accelerator, Cluster
from costcalc.recipes import Recipe
from costcalc.throughput.data_sheets import part
from costcalc.throughput.fitted_parameters import ACCELERATOR
from costcalc.throughput.language.law import Rate, TokenLaw
from costcalc.throughput.language.memory import most_sequences
from costcalc.throughput.language.networks import TokenWork
from costcalc.throughput.prediction import REFUSALS
from costcalc.throughput.speed_model import TIERS, SpeedTable, empty_table
from costcalc.training import Tier

NOTES = {
    True: "Tokens per second follow from a share of the dense 16-bit peak that published trainings of such models reached.",
    False: "Tokens per second follow from a law of plain fine-tuning: launches, arithmetic with recomputation, and links.",
}
MEMORY = "It fits with activations recomputed, in nine tenths of the memory."


class TokenTable(SpeedTable, frozen=True):
    """Speeds that follow from the law of tokens."""

    work: TokenWork | None = None

    def notes(self, recipe: int, cluster: int) -> tuple[str, ...]:
        """What the speed of a pair rests on."""
        return (NOTES[self.work.is_tuned], MEMORY) if self.work else ()


class TokenSpeeds:
    """The speeds of one way to train a language model on these chips."""

    def __init__(self, work: TokenWork, law: TokenLaw, chips: Mapping[str, Accelerator]) -> None:
        self._work, self._law, self._chips = work, law, chips

    def speeds(
        self, recipes: Sequence[Recipe], clusters: Sequence[Cluster], of_larger: Sequence[Recipe] = ()
    ) -> SpeedTable:
        """One table; refused where a data sheet lacks arithmetic, or memory is too small."""
        table = self.refused(recipes, clusters)
        for place, cluster in enumerate(clusters):
            chip = part(self._chips, cluster.accelerator)
            many, batch = cluster.total_accelerators, self._work.batch
            rate = self._law.rate(self._work, chip, many) if cluster.accelerators else None
            if rate and not most_sequences(self._work, many, chip.memory_gib or 0.0):
                table.refusal[:, place] = REFUSALS.index("does_not_fit_memory")
            elif rate and batch and batch < many and not self._work.is_tuned:
                table.refusal[:, place] = REFUSALS.index("batch_too_small")
            elif rate:
                _fill(table, place, rate)
        return table

    def refused(self, recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
        """The table before any speed is known."""
        return empty_table(TokenTable, (), recipes, clusters, work=self._work)


def _fill(table: SpeedTable, place: int, rate: Rate) -> None:
    samples = [recipe.samples_per_epoch for recipe in table.recipes]
    table.seconds_per_epoch[:, place, 0] = [many / rate.tokens_per_second for many in samples]
    table.width_80[:, place], table.width_faster[:, place] = rate.slower, rate.width
    table.tier[:, place], table.kind[:, place] = TIERS.index(Tier.MODELLED), ACCELERATOR
    table.refusal[:, place] = 0
