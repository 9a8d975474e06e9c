"""The names of places mean regions, and a region without a rate is answered with the nearest that has one."""

from collections import Counter

import pytest
from support.services import packaged_service

from api.questions.links import to_url
from api.web.app import create_app
from pricing.packaged.places import CITIES, EVERYBODY_S, REGIONS, countries, nearest, places, plain_name

ASKED = "/cost?model=resnet50&target=75.7%"
EXAMPLES = {
    "frankfurt": {"eu-central-1", "europe-west3", "germanywestcentral", "eu-frankfurt-1"},
    "Germany": {"eu-central-1", "europe-west10", "germanynorth"},
    "europe": {"eu-west-2", "europe-west6", "norwayeast"},
    "eu": {"eu-west-1", "francecentral", "europe-west4"},
    "us": {"us-east-1", "us-central1", "westus3", "us-chicago-1"},
    "USA": {"us-east-1"},
    "us-east": {"us-east-1", "us-east-2", "us-east4", "eastus2"},
    "oregon": {"us-west-2", "us-west1"},
    "Z\u00fcrich": {"eu-central-2", "europe-west6"},
    "S\u00e3o Paulo": {"sa-east-1", "southamerica-east1"},
    "apac": {"ap-northeast-1", "australiaeast"},
}
OUTSIDE = {
    "eu": {"eu-west-2", "uksouth", "europe-west6"},
    "us": {"us-gov-west-1", "ca-central-1"},
    "Germany": {"eu-west-1"},
}


@pytest.mark.parametrize("place", EXAMPLES)
def test_a_place_means_the_regions_in_it(place):
    codes = set(places().codes(place))
    assert EXAMPLES[place] <= codes
    assert not OUTSIDE.get(place, set()) & codes


def test_every_region_is_in_its_city_its_country_and_its_continent():
    for region in places().regions:
        for name in region.city.names:
            assert (region.code in places().codes(name)) == (region.kind in EVERYBODY_S)


def test_the_clouds_are_there_with_sources():
    sources = REGIONS.read(lambda row: row.text("source"))
    assert Counter(provider for provider, _ in sources) == {
        "aws": 112,
        "azure": 64,
        "gcp": 43,
        "oci": 39,
        "jarvislabs": 2,
    }


def test_every_word_means_a_place_and_every_city_has_a_region():
    for word in places().words():
        assert places().codes(word), word
    held = {(region.city.name, region.city.country) for region in places().regions}
    assert held == set(CITIES.read(lambda row: row.text("continent")))


def test_the_nearest_is_the_nearest():
    (frankfurt,) = places().of(["eu-central-1"])
    others = places().of(["us-east-1", "eu-north-1", "eu-west-3", "ap-south-1"])
    assert nearest([frankfurt], others).code == "eu-west-3"
    assert nearest([frankfurt], ()) is None
    assert plain_name("  The  N\u00f6rth-east ") == "north east"


def test_no_region_that_a_cloud_has_is_unknown(service):
    catalogue = service.catalogue()
    for region in dict.fromkeys(one.code for one in places().regions):
        query, _ = service.question({"model": ["resnet50"], "target": ["0.757"], "region": [region]}, catalogue)
        assert query.region == (region,)


def test_of_a_region_without_rates_the_nearest_answers_and_says_so(client):
    answer = client.get(f"{ASKED}&provider=aws&region=ca-west-1").json
    (note,) = answer["notes"]
    assert note == (
        "No rate of AWS in ca-west-1 (Calgary) is stored; `costcalc prices refresh aws` reads them. "
        "The nearest with rates is us-west-2 (Boardman)."
    )  # Seattle is nearer, and has a Local Zone alone
    (region,) = {each["region"] for each in answer["estimates"]}
    assert f"{region} (" in note
    page = client.get(f"/{ASKED.removeprefix('/cost')}&provider=aws&region=ca-west-1").text
    assert "No rate of AWS in ca-west-1 (Calgary) is stored" in page


def test_of_a_place_those_who_have_rates_there_answer(client):
    answer = client.get(f"{ASKED}&region=Mexico&limit=100").json
    regions = {(each["provider"], each["region"]) for each in answer["estimates"]}
    assert {
        ("aws", "us-east-1-qro-1"),
        ("oci", "any"),
    } <= regions  # Oracle asks the same everywhere, and has a region there
    assert answer["notes"] == []
    assert (
        client.get(f"{ASKED}&region=Auckland&provider=azure")
        .json["notes"][0]
        .startswith("No rate of Azure in Auckland")
    )
    assert client.get(f"{ASKED}&provider=gcp&region=frankfurt").json["notes"] == []
    assert client.get(ASKED).json["notes"] == []


def test_links_repeat_the_place(service):
    arguments = {"model": ["resnet50"], "target": ["0.757"], "region": ["Deutschland,us-east-1"]}
    query, _ = service.question(arguments, service.catalogue())
    assert to_url(query).endswith("&region=germany,us-east-1")


def test_a_country_s_two_letters_mean_it(service):
    """A code of ISO 3166 that is no state's as well."""
    arguments = {"model": ["resnet50"], "target": ["0.757"], "region": ["de,GB"]}
    query, _ = service.question(arguments, service.catalogue())
    assert to_url(query).endswith("&region=germany,uk")
    assert all(places().codes(country) for country in countries().values())


@pytest.mark.parametrize(
    ("text", "hint"), [("germny", "germany"), ("frankfrt", "frankfurt"), ("timbuktu", "/offers lists them")]
)
def test_an_unknown_place_leads_to_the_nearest_name(client, text, hint):
    assert hint in client.get(f"{ASKED}&region={text}").json["errors"]["region"][0]


@pytest.mark.parametrize(
    ("typed", "code"),
    [("US East (N. Virginia)", "us-east-1"), ("EU (Frankfurt)", "eu-central-1"), ("North Europe", "northeurope"),
     ("east us 2", "eastus2")],
)  # fmt: skip
def test_a_region_may_be_called_as_its_provider_does(typed, code):
    client = create_app(packaged_service()).test_client()
    asked, coded = (
        client.get("/cost", query_string={"model": "resnet50", "target": 0.757, "region": region, "limit": 1}).json
        for region in (typed, code)
    )
    assert asked["query"]["region"] == [code]
    assert asked["count"] == coded["count"]
    sentence = client.get("/ask", query_string={"q": f"resnet50 75.7% in {typed}"}).json
    assert sentence["understood"]["region"] == code
