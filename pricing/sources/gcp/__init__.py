"""Google Cloud: SKUs of the billing catalogue, machine types of Compute Engine."""
