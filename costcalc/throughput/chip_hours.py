"""How long a training takes elsewhere that is known by its hours alone: from the data sheets of the chips.

A chip is as fast as the root of its arithmetic times its memory bandwidth. Of 76 ratios between NVIDIA's chips in MLPerf's tasks
(`science/data/chip_ratios.csv`) the middle one is missed by 17 %, and 8 of 10 by less than a factor of 1.54.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from msgspec import Struct

from costcalc.hardware import Accelerator, Cluster
from costcalc.recipes import Recipe
from costcalc.throughput.data_sheets import part
from costcalc.throughput.fitted_parameters import ACCELERATOR, TRANSFERRED
from costcalc.throughput.prediction import REFUSALS
from costcalc.throughput.speed_model import TIERS, SpeedTable, empty_table
from costcalc.training import YOUR_CODE, Throughput, Tier, TrainingKind

WIDTHS: Mapping[TrainingKind, float] = {
    "any": math.log(1.54), "language": math.log(1.54), "vision": math.log(1.4),
    "diffusion": math.log(1.4), "detection": math.log(1.24),
}  # fmt: skip
"""Half-widths in ln(time), at 80 %, of the ratio between two chips. Diffusion and vision have too few ratios for their own."""
OTHER_VENDOR = math.log(2.0)
"""The same between chips of two vendors, by rule: other code runs there."""
BY_COUNT, OF_COUNT = 0.9, 0.15
"""The exponent of the rate in the number of chips, and half its range; of MLPerf's entries of up to 64 chips it is 0.5 to 1."""
AGAIN = math.log(1.05)
"""Another run on the very machine."""


class StatedTable(SpeedTable, frozen=True):
    """Speeds that follow from the hours on one machine, which the asker stated."""

    def notes(self, recipe: int, cluster: int) -> tuple[str, ...]:
        """What the hours of a pair rest on."""
        stated, there = self.throughputs[0], self.clusters[cluster]
        whose = "you" if stated.organisation == YOUR_CODE else stated.organisation
        if self.tier[recipe, cluster] == TIERS.index(Tier.MEASURED):
            return (f"The hours are those that {whose} stated.",)
        return (
            f"Carried over from the {stated.accelerators} {stated.accelerator} that {whose} stated, by the root of arithmetic "
            "times memory bandwidth on the data sheets, and by the number of chips; whether it fits the memory of "
            f"{there.accelerator} is not known.",
        )


class ChipHours(Struct, frozen=True):
    """The speeds of one training, of which `stated` says how fast one machine is: one sample is the whole training, or an image.
    `of_data` is how far the data of another training may move them, in ln; `needed_gib` the memory that a chip must have, as far
    as that is known."""

    stated: Throughput
    kind: TrainingKind
    accelerators: Mapping[str, Accelerator]
    of_data: float = 0.0
    needed_gib: float = 0.0

    def speeds(
        self, recipes: Sequence[Recipe], clusters: Sequence[Cluster], of_larger: Sequence[Recipe] = ()
    ) -> SpeedTable:
        """One table; refused where the data sheet lacks arithmetic or bandwidth."""
        table = self.refused(recipes, clusters)
        for c, cluster in enumerate(clusters):
            ratio = self._ratio(cluster)
            if ratio is not None and self._lacks_memory(cluster):
                table.refusal[:, c] = REFUSALS.index("does_not_fit_memory")
            elif ratio is not None:
                self._fill(table, c, ratio)
        return table

    def refused(self, recipes: Sequence[Recipe], clusters: Sequence[Cluster]) -> SpeedTable:
        """The table before any speed is known."""
        return empty_table(StatedTable, (self.stated,), recipes, clusters)

    def _fill(self, table: SpeedTable, c: int, log_ratio: float) -> None:
        cluster, home = table.clusters[c], self.stated
        is_home = (cluster.accelerator, cluster.total_accelerators) == (home.accelerator, home.accelerators)
        samples = [recipe.samples_per_epoch for recipe in table.recipes]
        table.seconds_per_epoch[:, c, 0] = [
            sample / (home.images_per_second * math.exp(log_ratio)) for sample in samples
        ]
        width = math.hypot(AGAIN if is_home else self._width(cluster), self.of_data)
        table.width_80[:, c] = table.width_faster[:, c] = width
        table.tier[:, c] = TIERS.index(Tier.MEASURED if is_home else Tier.MODELLED)
        table.kind[:, c] = TRANSFERRED if is_home else ACCELERATOR
        table.refusal[:, c], table.row[:, c] = 0, 0

    def _lacks_memory(self, cluster: Cluster) -> bool:
        return (part(self.accelerators, cluster.accelerator).memory_gib or math.inf) < self.needed_gib

    def _ratio(self, cluster: Cluster) -> float | None:
        """ln of how many times as fast as the stated machine it is; None where nobody knows."""
        there, home = (
            by_data_sheet(part(self.accelerators, cluster.accelerator)),
            by_data_sheet(part(self.accelerators, self.stated.accelerator)),
        )
        if there is None or home is None or not cluster.total_accelerators:
            return None
        return there - home + BY_COUNT * math.log(cluster.total_accelerators / self.stated.accelerators)

    def _width(self, cluster: Cluster) -> float:
        vendors = {part(self.accelerators, name).vendor for name in (cluster.accelerator, self.stated.accelerator)}
        of_chip = OTHER_VENDOR if len(vendors) > 1 else WIDTHS[self.kind]
        same_chip = cluster.accelerator == self.stated.accelerator
        of_count = OF_COUNT * abs(math.log(cluster.total_accelerators / self.stated.accelerators))
        return math.hypot(AGAIN if same_chip else of_chip, of_count)


def by_data_sheet(chip: Accelerator) -> float | None:
    """ln of the root of arithmetic times bandwidth; None where the data sheet lacks one."""
    if not (chip.dense_16bit_tflops and chip.memory_bandwidth_gb_per_s and chip.device_memory):
        return None
    return math.log(chip.dense_16bit_tflops * chip.memory_bandwidth_gb_per_s) / 2
