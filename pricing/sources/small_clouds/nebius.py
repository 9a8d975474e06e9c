"""Nebius's machines on demand and preemptible, from its public pricing page.

The table stands as JSON in a script of the page. The rate, the processors and the memory are those of one accelerator; HGX
machines are rented by eight, the H100 and the H200 also one by one. Preemptible is spot.
"""

from pricing.sources.common.page import page_spec

SPEC = page_spec("nebius")
