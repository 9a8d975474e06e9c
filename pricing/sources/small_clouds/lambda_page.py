"""Lambda's machines on demand, from its public pricing page, for those who have no key of its API.

The rate is that of one accelerator, and differs by how many a machine has; the tab above the table says how many that is.
Instance types have the names of the API where the packaged machines tell them. The clusters above are sold by the week and are
not read.
"""

from pricing.sources.common.page import page_spec

SPEC = page_spec("lambda-page")
