"""Together's GPU clusters on demand and reserved, from its public pricing page.

The rate is that of one accelerator; machines have eight. Above stand rows of dedicated inference, which is another product, and
a hidden copy of the table; neither is read.
"""

from pricing.sources.common.page import page_spec

SPEC = page_spec("together")
