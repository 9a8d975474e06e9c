"""How fast a recipe trains on a cluster: measured, transferred, interpolated or modelled."""

from costcalc.throughput.fitted_parameters import FittedParameters
from costcalc.throughput.prediction import REFUSALS, global_batch
from costcalc.throughput.provenance import WIDE_BY_RULE
from costcalc.throughput.speed_model import TIERS, SpeedModel, SpeedTable, signature, undated

__all__ = [
    "REFUSALS",
    "TIERS",
    "WIDE_BY_RULE",
    "FittedParameters",
    "SpeedModel",
    "SpeedTable",
    "global_batch",
    "signature",
    "undated",
]
