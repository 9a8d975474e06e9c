"""Hyperbolic's machines on demand, from the public list of its API.

The rate is in cents, of the whole option. Of several options in one region with the same accelerators the cheapest counts.
"""

from pricing.sources.common.page import page_spec

SPEC = page_spec("hyperbolic")
