"""How fast a recipe trains on a cluster: measured, transferred, interpolated or modelled."""

from costcalc.throughput.column import global_batch
from costcalc.throughput.fitted import Fitted
from costcalc.throughput.model import SpeedModel, signature, undated
from costcalc.throughput.table import REFUSALS, TIERS, SpeedTable

__all__ = ["REFUSALS", "TIERS", "Fitted", "SpeedModel", "SpeedTable", "global_batch", "signature", "undated"]
