"""How fast a recipe trains on a cluster: measured, transferred, interpolated or modelled."""

from costcalc.throughput.fitted_parameters import FittedParameters
from costcalc.throughput.prediction import REFUSALS
from costcalc.throughput.provenance import WIDE_BY_RULE
from costcalc.throughput.speed_model import TIERS, SpeedModel, SpeedTable, signature, undated
from costcalc.throughput.work_on_clusters import global_batch

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
