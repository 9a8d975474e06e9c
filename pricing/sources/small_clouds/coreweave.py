"""CoreWeave's machines on demand and as spot, from its public pricing page.

The rate is that of the whole machine. A machine of the NVL72 racks has four accelerators (two superchips), and its count stands
there with a footnote. The table of processors below has rows of the same kind and is not read.
"""

from pricing.sources.common.page import page_spec

SPEC = page_spec("coreweave")
