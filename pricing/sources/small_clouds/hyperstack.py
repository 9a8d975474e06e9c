"""Hyperstack's machines on demand, from its public pricing page.

The rate, the processors and the memory are those of one accelerator; SXM, NVLink, B200 and B300 are rented by eight. A card
without a word behind its name is the PCIe one. What stands under reservations is only what they start from.
"""

from pricing.sources.common.page import page_spec

SPEC = page_spec("hyperstack")
