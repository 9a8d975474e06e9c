"""Voltage Park's bare machines on demand, from the public list of its API.

The rate is that of one accelerator although machines have eight, and differs by the network between machines: Ethernet or
InfiniBand.
"""

from pricing.sources.common.page import page_spec

SPEC = page_spec("voltage-park")
