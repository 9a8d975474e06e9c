"""What was measured: recipes with their accuracy curves, throughputs and hardware facts, each with its source."""

from costcalc.evidence.collection import Evidence, normalised
from costcalc.evidence.parsing import load_evidence, parse_evidence
from costcalc.evidence.tables import TableError

__all__ = ["Evidence", "TableError", "load_evidence", "normalised", "parse_evidence"]
