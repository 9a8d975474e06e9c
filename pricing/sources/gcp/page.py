"""Google's machines with accelerators in Iowa, from its public pricing page: no key is needed.

The page shows the region us-central1 until somebody chooses another. A rate is that of the whole machine. The page also states
rates on demand of machines that are sold otherwise only; they are left out, as from the billing catalogue.
"""

from pricing.sources.common.page import page_spec
from pricing.sources.gcp.machines import sold

SPEC = page_spec("gcp-page", lambda offer: offer.purchase_option in sold(offer.instance_type))
