"""Crusoe's machines on demand, from its public pricing page.

The rate is that of one accelerator; those that hang together (HGX, SXM, MI300X) are rented by eight. Further down the page the
same names stand again at the rates of another product, which is not read.
"""

from pricing.sources.common.page import page_spec

SPEC = page_spec("crusoe")
