"""A question written as an address reads back as the same question."""

from datetime import UTC, datetime
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

from hypothesis import given
from hypothesis import strategies as st
from support.services import packaged_service

from api.questions.links import to_url
from costcalc.offer import Payment, PurchaseOption
from costcalc.query import Discount, EstimateQuery
from costcalc.training import Crossing, Metric
from pricing.packaged.places import countries, places

SERVICE = packaged_service()
CATALOGUE = SERVICE.catalogue()
NAMES = SERVICE.names(CATALOGUE)
FRACTIONS = st.floats(0, 1, exclude_min=True, exclude_max=True)


def some(values):
    return st.lists(st.sampled_from(values), unique=True, max_size=3).map(tuple)


def folded(names):
    """Names that no other differs from by case alone, which would bring that other one along."""
    forms = [name.casefold() for name in names]
    return [name for name in names if forms.count(name.casefold()) == 1]


def discounts(everywhere, by_provider):
    common = () if everywhere is None else (Discount(everywhere),)
    return common + tuple(Discount(fraction, name) for name, fraction in sorted(by_provider.items()))


SHARES = st.decimals(0, "0.99", places=3).map(lambda value: value + 0)
QUERIES = st.builds(
    EstimateQuery,
    model=st.sampled_from(sorted(SERVICE.evidence.models)),
    target=FRACTIONS,
    metric=st.sampled_from(Metric),
    provider=some(folded(NAMES.provider)),
    region=some([code for code in folded(NAMES.region) if not places().word(countries().get(code.upper(), code))]),
    instance_type=some(folded(NAMES.instance_type)),
    accelerator=some(NAMES.accelerator),
    recipe=some([*NAMES.recipe, "mlperf-*", "ffcv-rn50-*"]),
    purchase=some(list(PurchaseOption)),
    term=some(["1mo", "3mo", "1y", "3y", "14d"]),
    payment=some(list(Payment)),
    accelerators=st.none() | st.integers(1, 4096),
    nodes=st.none() | st.integers(1, 512),
    as_of=st.none() | st.datetimes(datetime(2017, 1, 1), datetime(2026, 11, 1), timezones=st.just(UTC)),  # noqa: DTZ001
    max_hours=st.none() | st.floats(0.001, 1e6),
    max_cost=st.none() | st.decimals("0.01", "1e6", places=2),
    confidence=FRACTIONS,
    evidence=st.sampled_from(["any", "measured"]),
    software=st.sampled_from(["usual", "recipe"]),
    overheads=st.sampled_from(["typical", "none"]),
    pipeline=st.sampled_from(["recipe", "none", "pytorch", "dali", "ffcv", "tfdata"]),
    crossing=st.sampled_from(Crossing),
    utilization=st.floats(0, 1),
    basis=st.sampled_from(["billed", "effective"]),
    sort=st.sampled_from(["cost", "time"]),
    limit=st.integers(1, 1000),
    offset=st.integers(0, 10**6),
    frontier=st.booleans(),
    recipes=st.sampled_from(["best", "all"]),
    regions=st.sampled_from(["cheapest", "all"]),
    max_price_age=st.integers(0, 4000),
    discount=st.builds(discounts, st.none() | SHARES, st.dictionaries(st.sampled_from(["aws", "gcp"]), SHARES)),
    currency=st.sampled_from(["USD", "EUR", "CNY"]),
)


@given(QUERIES)
def test_query_to_address_and_back_is_identity(query):
    arguments = parse_qs(urlsplit(to_url(query)).query, keep_blank_values=True)
    assert SERVICE.question(arguments, CATALOGUE)[0] == query


def test_a_comma_may_belong_to_a_name():
    query = EstimateQuery("resnet50", 0.757, instance_type=("2x RTX A6000, 8 vCPU", "p3.8xlarge"))
    assert to_url(query).count("instance_type=") == 2
    assert SERVICE.question(parse_qs(urlsplit(to_url(query)).query), CATALOGUE)[0] == query


def test_defaults_stay_out_of_an_address():
    assert to_url(EstimateQuery("resnet50", 0.757)) == "/cost?model=resnet50&target=0.757"
    assert to_url(EstimateQuery("vgg16", 0.7, max_cost=Decimal("1E+2")), "/cost.csv", excel="1") == (
        "/cost.csv?model=vgg16&target=0.7&max_cost=100&excel=1"
    )


def test_the_end_of_a_day_is_written_as_the_day():
    query = EstimateQuery("resnet50", 0.757, as_of=datetime(2018, 4, 26, 23, 59, 59, tzinfo=UTC))
    assert to_url(query).endswith("&as_of=2018-04-26")
