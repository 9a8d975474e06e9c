"""Names in a question: what people call a cloud, a machine or a way to pay means what we call it."""

import pytest

from api.questions.links import to_url
from api.questions.names import Known
from api.questions.spellings import ALONE, FAMILIES, Spellings, term
from api.questions.suggestions import Guesses
from costcalc.evidence import normalised
from costcalc.query import EstimateQuery
from costcalc.training import OwnSpeed

KNOWN = Known(("aws", "azure", "gcore", "gcp", "lambda"), (), (), (), ())


@pytest.mark.parametrize(
    ("text", "name"),
    [("amazon", "aws"), ("Google Cloud", "gcp"), ("google", "gcp"), ("Microsoft", "azure"), ("lambda-labs", "lambda")],
)
def test_a_company_means_its_cloud(text, name):
    assert KNOWN.resolve("provider", text, Guesses()) == (name,)


def test_a_company_whose_cloud_is_not_there_is_no_hint():
    with pytest.raises(LookupError) as told:
        KNOWN.resolve("provider", "datacrunch", Guesses())
    assert "verda" not in str(told.value)


def test_a_kind_of_accelerator_is_not_one_machine_of_one_s_own(client):
    told = client.get("/cost?model=resnet50&target=0.749&own=2x+GPUs").json["errors"]["own"]
    assert told == ['"GPUs" is not one accelerator: name the model itself, for example H100, A100-80GB or V100']


@pytest.mark.parametrize(
    ("word", "members", "others"),
    [
        ("TPU", {"TPU v2", "TPU v6e"}, {"V100", "Gaudi"}),
        ("tpus", {"TPU v2", "TPU v6e"}, {"V100", "Gaudi"}),
        ("Nvidia", {"V100", "RTX 4090", "H100"}, {"MI300X", "TPU v2"}),
        ("amd", {"MI300X", "RX 7900 XTX"}, {"V100", "EPYC 7763"}),
        ("gpu", {"V100", "MI300X"}, {"TPU v2", "Gaudi", "Trainium", "EPYC 7763"}),
    ],
)
def test_a_kind_of_accelerator_means_all_of_it(service, word, members, others):
    every = asked(service, "accelerator", word)
    assert members <= set(every)
    assert not others & set(every)


def test_links_repeat_the_word_that_means_several(service):
    arguments = {"model": ["resnet50"], "target": ["0.757"], "accelerator": ["nvidia,tpu v2", "a100", "V100-16gb"]}
    query, _ = service.question(arguments, service.catalogue())
    assert to_url(query) == "/cost?model=resnet50&target=0.757&accelerator=NVIDIA,TPU+v2,A100,V100-16GB"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("NVIDIA RTX 4090", "RTX 4090"),
        ("GeForce 2080 Ti", "RTX 2080 Ti"),
        ("4090", "RTX 4090"),
        ("Tesla T4 16GB", "T4"),
        ("3090 24 GB", "RTX 3090"),
        ("AMD MI300X", "MI300X"),
        ("a100 80gb", "A100-80GB"),
        ("Google TPU v3", "TPU v3"),
    ],
)
def test_a_card_is_known_by_its_number_behind_its_maker_and_before_its_memory(service, text, name):
    assert asked(service, "accelerator", text) == (name,)
    assert asked(service, "own", f"2x {text}")[0].accelerator == name


def test_a_card_with_another_memory_than_its_own_is_unknown(client):
    told = client.get("/cost?model=resnet50&target=0.749&accelerator=T4+24GB").json["errors"]["accelerator"]
    assert told[0].startswith('unknown accelerator "T4 24GB"')


def test_how_many_may_stand_before_the_accelerator(service, client):
    arguments = {"model": ["resnet50"], "target": ["0.757"], "accelerator": ["8x h100 80gb, 8 x NVIDIA A100"]}
    query, _ = service.question(arguments, service.catalogue())
    assert query.accelerators == 8
    assert {"H100", "A100-40GB"} <= set(query.accelerator)
    told = client.get("/cost?model=resnet50&target=0.75&accelerator=8xH100&accelerators=4").json["errors"]
    assert told == {"accelerators": ["4 and 8 are asked for: write one number"]}


@pytest.mark.parametrize("word", ["CPU", "cpus", "processor"])
def test_a_word_for_processors_means_all_of_them(service, word):
    every = asked(service, "accelerator", word)
    assert {"Xeon Platinum 8124M", "EPYC 9R14", "Graviton3"} <= set(every)
    assert "V100" not in every


def asked(service, parameter, text):
    """What a parameter of a question comes to."""
    query, _ = service.question({"model": ["resnet50"], "target": ["0.757"], parameter: [text]}, service.catalogue())
    return getattr(query, parameter)


@pytest.mark.parametrize("word", FAMILIES)
def test_a_family_means_every_accelerator_of_it(service, word):
    every = asked(service, "accelerator", word.lower())
    known = service.names(service.catalogue()).accelerator
    assert set(every) == {name for name in known if name.split("-")[0] == word}
    assert len(every) >= 2


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("V100-16GB", "V100"),
        ("v100 16gb", "V100"),
        ("H100-SXM", "H100"),
        ("A100-SXM4-80GB", "A100-80GB"),
        ("A100-80GB", "A100-80GB"),
        ("V100-32GB", "V100-32GB"),
        ("H100-PCIe", "H100-PCIe"),
    ],
)
def test_one_version_is_asked_for_by_its_memory_or_its_form(service, text, name):
    assert asked(service, "accelerator", text) == (name,)


def test_every_family_that_is_also_a_name_can_be_asked_for_alone(service):
    known = service.names(service.catalogue()).accelerator
    assert set(ALONE) == set(FAMILIES) & set(known)
    for name, alone in ALONE.items():
        assert asked(service, "accelerator", alone) == (name,)


@pytest.mark.parametrize(
    ("text", "option"),
    [
        ("preemptible", "spot"),
        ("Low-Priority", "spot"),
        ("ondemand", "on_demand"),
        ("on-demand", "on_demand"),
        ("On Demand", "on_demand"),
        ("cud", "committed_use"),
        ("Savings Plans", "savings_plan"),
    ],
)
def test_ways_to_pay_as_people_say_them(service, text, option):
    assert asked(service, "purchase", text) == (option,)


@pytest.mark.parametrize(
    ("text", "known"),
    [
        *((text, "1y") for text in ("1y", "1yr", "1 year", "1-year", "12 months", "one year", "12mo")),
        *((text, "3y") for text in ("3Y", "3yr", "3yrs", "3 years", "36 months", "three years")),
        *((text, "1mo") for text in ("1mo", "1 month", "one month")),
        *((text, "14d") for text in ("14d", "14 days", "014d")),
    ],
)
def test_terms_as_people_say_them(service, text, known):
    assert term(text) == known
    assert asked(service, "term", text) == (known,)


@pytest.mark.parametrize("text", ["", "y", "1", "1h", "year", "-1y", "1.5y"])
def test_what_is_no_length_of_time_is_no_term(text):
    assert term(text) is None


def test_the_strictest_form_that_a_name_has_decides():
    spellings = Spellings([("us-west-1", 1), ("us-west1", 2), ("net-3.2gf", 3), ("net-32gf", 4), ("p3.8xlarge", 5)])
    assert spellings.find("US-WEST1") == [2]
    assert spellings.find("us_west_1") == [1, 2]
    assert spellings.find("net_32GF") == [4]
    assert spellings.find("net 3.2gf") == [3]
    assert spellings.find("p38xlarge") == [5]
    assert spellings.find("-") == []


def test_no_two_models_share_a_name_however_it_is_spelt(service):
    spelt = {}
    for model in service.evidence.models.values():
        for name in (model.name, *model.aliases):
            assert spelt.setdefault(normalised(name), model.name) == model.name
            assert service.model(name) is model


def test_a_recipe_is_found_with_other_signs_than_its_own(service):
    for name in service.names(service.catalogue()).recipe:
        assert asked(service, "recipe", name.replace("-", "_")) == (name,)


@pytest.mark.parametrize(
    ("text", "names"),
    [("vit", "vit_b16, vit_l16 or vit_s16"), ("deit", "deit_base, deit_small or deit_tiny"), ("vit_tiny", "deit_tiny")],
)
def test_a_network_without_recipes_leads_to_the_same_one_that_has_some(client, text, names):
    told = client.get(f"/cost?model={text}&target=0.7")
    if told.status_code == 200:
        assert {hint["change"] for hint in told.json["hints"]} == {f"model={names}"}
    else:
        assert told.status_code == 404
        assert told.json["detail"] == f'unknown model "{text}": did you mean {names}?'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("1450", "must be images per second @ count x accelerator, such as 1450@1xA100-80GB"),
        ("1450@A100-80GB", "must be images per second @ count x accelerator"),
        ("-3@1xV100", "must be a number above 0"),
        ("0@1xV100", "must be a number above 0"),
        ("1e400@1xV100", "must be a number above 0"),
        ("10@0xV100", "must be a whole number from 1"),
        ("10@1xA100", '"A100" is the name of several: write A100-40GB'),
        ("10@1xB52", "unknown accelerator"),
    ],
)
def test_a_wrong_speed_of_ones_own_is_refused_with_what_to_type(client, text, told):
    answer = client.get("/cost", query_string={"model": "resnet50", "target": 0.757, "images_per_second": text})
    assert answer.status_code == 400
    assert told in answer.json["errors"]["images_per_second"][0]


def test_a_speed_on_a_card_whose_name_its_larger_sister_shares_is_that_of_the_card(client):
    answer = client.get("/cost?model=resnet50&target=0.757&images_per_second=400@1xV100&limit=1").json
    assert answer["query"]["images_per_second"][0]["accelerator"] == "V100"


def test_sixty_hours_at_twelve_hours_a_day_take_five_days_and_their_restarts(client):
    """AI Studio's V100 of 2020, with the speed at which the training takes 60 hours."""
    recipe = "recipe=dawnbench-lambda-rn50-4x1080ti"
    asked = f"model=resnet50&target=0.757&provider=baidu-ai-studio&purchase=free&as_of=2020-02-20&{recipe}"
    speed = 100.0
    for _ in range(4):
        (one,) = client.get(f"/cost?{asked}&images_per_second={speed:.6f}@1xV100").json["estimates"]
        speed *= one["hours"] / 60
    assert one["hours"] == pytest.approx(60, abs=0.001)
    assert one["calendar_hours"] == pytest.approx(2 * (60 + 6 * 0.1), abs=0.01)  # six sessions


def test_a_speed_of_ones_own_comes_back_in_the_question(client):
    asked = {"model": "resnet50", "target": 0.757, "images_per_second": "1450.5 @ 1 x a100-80gb", "limit": 1}
    answer = client.get("/cost", query_string=asked).json
    assert answer["query"]["images_per_second"] == [
        {"images_per_second": 1450.5, "accelerators": 1, "accelerator": "A100-80GB"}
    ]
    assert "images_per_second=1450.5@1xA100-80GB" in to_url(
        EstimateQuery("resnet50", 0.757, images_per_second=(OwnSpeed(1450.5, 1, "A100-80GB"),))
    ).replace("%40", "@")
