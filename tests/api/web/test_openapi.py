"""The OpenAPI document is valid, complete, and true: schemathesis holds the service against it."""

import re

import jsonschema_rs
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from support.services import packaged_service

from api.questions.schemas import CostSchema
from api.settings import Settings
from api.web.app import create_app
from api.web.openapi import OPERATIONS
from costcalc.answers import Estimate

APP = create_app(packaged_service(), Settings(slack_signing_secret="a secret"))
ALL_NAMES = r"^/(cost|offers|models/{model})$"  # asked with every name that is known, the others with a few
PICTURES = r"^/cost\.(png|svg)$"  # the parameters of /cost, at half a second for each drawing
FORMS = r"\.(csv|xlsx)$|^/$"  # the same questions in other forms: asked less often
MAY_REFUSE = ("/cost.csv", "/offers/changes", "/offers/changes.csv")
FEW = 10


def operations(**config):
    return schemathesis.openapi.from_wsgi("/openapi.json", APP, config=schemathesis.Config.from_dict(config))


def with_few_names(operations):
    schemas = operations.raw_schema["components"]["schemas"]
    for name in filter(re.compile("Known_").match, schemas):
        del schemas[name]["enum"][FEW:]
    return operations


THOROUGH = operations().include(path_regex=ALL_NAMES)
WITH_FEW_NAMES = with_few_names(operations()).exclude(path_regex=f"{ALL_NAMES}|{PICTURES}|{FORMS}")
BRIEF = operations(phases={"coverage": {"enabled": False}}).include(path_regex=FORMS)


def asked(examples):
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def hold(case):
    """Against the document. It cannot say which text is a sheet of questions, that FOCUS has no decimal commas, or that
    `since` is before `as_of`, so those may be refused."""
    may_refuse = case.media_type == "text/csv" or case.path in MAY_REFUSE
    excluded = [positive_data_acceptance] if may_refuse else []
    case.call_and_validate(excluded_checks=excluded, headers={"Accept-Encoding": "identity"})


@THOROUGH.parametrize()
@asked(10)
def test_the_service_keeps_to_its_document(case):
    hold(case)


@WITH_FEW_NAMES.parametrize()
@asked(10)
def test_so_do_the_other_paths(case):
    hold(case)


@BRIEF.parametrize()
@asked(4)
def test_so_do_its_sheets_and_its_page(case):
    hold(case)


@pytest.fixture(scope="module")
def document():
    return APP.test_client().get("/openapi.json").json


def test_it_is_openapi_3_1_and_has_every_path(document):
    assert document["openapi"].startswith("3.1")
    rules = [rule for rule in APP.url_map.iter_rules() if rule.endpoint.partition(".")[0] not in ("static", "access")]
    served = {rule.rule.replace("<", "{").replace(">", "}") for rule in rules}
    assert served == set(document["paths"])
    assert {operation.path for operation in OPERATIONS} <= served


def test_every_parameter_is_described(document):
    listed = {each["name"]: each for each in document["paths"]["/cost"]["get"]["parameters"]}
    assert set(listed) == set(CostSchema().fields) - {"token", "profile", "focus"}
    sheet = {each["name"] for each in document["paths"]["/cost.csv"]["get"]["parameters"]}
    assert sheet == set(CostSchema().fields) - {"token", "format"}
    assert all(each["description"] for each in listed.values())
    assert [name for name, each in listed.items() if each.get("required")] == ["model", "target"]
    named = listed["instance_type"]["schema"]["items"]["$ref"].rsplit("/", 1)[1]
    assert "p3.8xlarge" in document["components"]["schemas"][named]["enum"]
    assert len(msgspec.json.encode(document)) < 400_000


def test_answers_are_described_by_their_own_types(document):
    described = document["components"]["schemas"]["Estimate"]
    assert list(described["properties"]) == list(Estimate.__dataclass_fields__)
    assert set(described["required"]) == set(Estimate.__dataclass_fields__)
    assert described["properties"]["billed_cost"] == {"type": "number"}


def test_an_answer_is_valid_by_the_document(document):
    import jsonschema_rs  # schemathesis brings it

    schema = {"$ref": "#/components/schemas/CostDocument", "components": document["components"]}
    answer = APP.test_client().get("/cost?model=resnet50&target=0.757&limit=3&discount=aws:0.1&currency=EUR").json
    assert jsonschema_rs.validator_for(schema).is_valid(answer)
    assert msgspec.json.decode(msgspec.json.encode(document)) == document


def test_the_docs_page_shows_every_path_and_loads_nothing_from_elsewhere(document):
    response = APP.test_client().get("/docs")
    page = response.get_data(as_text=True)
    for path, methods in document["paths"].items():
        assert f"{next(iter(methods)).upper()} {path}</code>" in page
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page
    assert "default-src 'none'" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("as_of", "2024-02-29"),
        ("discount", "lambda:0.1"),
        ("fx", "CAD:1.35"),
        ("model", "rn50"),
        ("accelerator", "A100"),
        ("accelerator", "V100-16GB"),
        ("provider", "google cloud"),
        ("purchase", "preemptible"),
        ("purchase", "on-demand"),
        ("term", "3yr"),
        ("term", "1 year"),
    ],
)
def test_what_people_say_is_in_the_document(client, name, value):
    document = client.get("/openapi.json").json
    [told] = [each for each in document["paths"]["/cost"]["get"]["parameters"] if each["name"] == name]
    one = told["schema"].get("items", told["schema"])
    schema = {**one, "components": document["components"]}
    jsonschema_rs.validate(schema, value)
    assert client.get("/cost", query_string={"model": "resnet50", "target": "0.757", name: value}).status_code == 200
