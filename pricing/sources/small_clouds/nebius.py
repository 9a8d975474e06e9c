"""Nebius's machines on demand, from its public pricing page.

The rate, the processors and the memory are those of one accelerator; HGX machines are rented by eight, the H100 and the H200
also one by one. Nebius announces a new rate in a column of its own, which holds from the day in its heading; the old one stays
beside it.
"""

from pricing.sources.common.page import page_spec

SPEC = page_spec("nebius")
