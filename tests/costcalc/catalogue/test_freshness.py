"""How fresh rates are, by provider too."""

from datetime import timedelta

from support.prices import LATER, NOW, listed, offer

from costcalc.catalogue.catalogue import Catalogue
from costcalc.catalogue.freshness import Freshness, current_freshness
from pricing.store.store import Store


def days_ago(days, **changes):
    return offer("3", NOW - timedelta(days=days), **changes)


def test_the_median_counts_rates_and_the_share_those_of_a_month():
    offers = [days_ago(2), days_ago(10, region="b"), days_ago(90, provider="gcp"), days_ago(400, provider="azure")]
    fresh = current_freshness(Catalogue.from_offers(offers, "one"), NOW)
    assert (fresh.median_age_days, fresh.share_within_30_days) == (50.0, 0.5)
    assert fresh.by_provider == {"aws": 6.0, "azure": 400.0, "gcp": 90.0}


def test_where_there_is_no_rate_nothing_is_said():
    assert current_freshness(Catalogue.from_offers([], "none"), NOW) == Freshness()


def test_prices_are_refreshed_when_a_source_last_answered_and_no_earlier_answer_says_so(tmp_path):
    store = Store(f"sqlite:///{tmp_path}/prices.sqlite3")
    store.publish(listed("packaged", days_ago(1)), NOW)
    assert current_freshness(store.load_current(), LATER).refreshed_at is None
    store.publish(listed("vultr", offer(observed_at=NOW)), NOW)
    store.publish(listed("vultr", offer(observed_at=LATER)), LATER)
    assert current_freshness(store.load_current(), LATER).refreshed_at == LATER
    assert current_freshness(store.load_current(), NOW).refreshed_at is None
