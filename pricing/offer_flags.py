"""Words that stand in an offer's `flags`, some with a value, such as `zone=us-east-1a`."""

from costcalc.offer import AVAILABLE, INTERRUPTED, NO_CAPACITY

SPOT_ABOVE_ON_DEMAND = "spot_above_on_demand"  # the provider itself lists spot above on demand
PRICE_JUMP = "price_jump"  # a person looked at a jump of the rate and accepted it
WITHDRAWN = "withdrawn"  # beside `ended`: a person took the rate back, since it was wrong
MARKETPLACE = "marketplace"  # hosts compete, so that eight accelerators of one host may cost less than four of another

# These say where, when and beside what a rate was seen. They may change while the rate does not.
CIRCUMSTANCES = frozenset(
    {"zone", "zones", "starts", "hours", "spot_median", INTERRUPTED.rstrip("=")}
    | {AVAILABLE, NO_CAPACITY, PRICE_JUMP, SPOT_ABOVE_ON_DEMAND}
)


def stock(is_free: bool | None) -> tuple[str, ...]:
    """What a provider says of its stock: one is free to rent, none is, or (None) nothing."""
    return {True: (AVAILABLE,), False: (NO_CAPACITY,), None: ()}[is_free]
