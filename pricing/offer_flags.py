"""Words that stand in an offer's `flags`."""

NO_CAPACITY = "no_capacity"  # priced, and nothing free to rent when it was read
SECOND_HAND = "second_hand"  # read in somebody else's collection, not at the provider's
SPOT_ABOVE_ON_DEMAND = "spot_above_on_demand"  # set by an adapter whose provider does list spot so
PRICE_JUMP = "price_jump"  # set where a person looked at a jump and accepted it
MARKETPLACE = "marketplace"  # hosts compete: eight accelerators of one may undercut four of another
