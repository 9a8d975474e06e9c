"""`costcalc prices`: asks the price sources, corrects what they stated, and keeps and publishes what is known."""

import click

from api.cli.prices import asking, correcting, editions, keeping

prices = click.Group(
    "prices",
    help="Fetch live prices and check their sources.",
    commands=[
        asking.refresh,
        asking.try_source,
        asking.describe,
        asking.status,
        correcting.withdraw,
        correcting.release,
        editions.export,
        editions.begin,
        editions.publish,
        editions.sign,
        editions.verify,
        editions.key,
        keeping.backup,
        keeping.restore,
        keeping.rebuild,
    ],
)
