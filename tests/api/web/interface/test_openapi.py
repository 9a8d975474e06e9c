"""The OpenAPI document is valid, complete, and true: schemathesis holds the service against it."""

import json
import re

import jsonschema_rs
import msgspec
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, settings
from schemathesis.specs.openapi.checks import positive_data_acceptance
from support.openapi import inlined
from support.sampled import WHOLE, sampled
from support.services import packaged_service

from api.questions.schemas.training import CostSchema
from api.settings import Settings
from api.web.app import create_app
from api.web.interface.openapi import OPERATIONS
from costcalc.flat import NAMES
from costcalc.offer import PurchaseOption
from costcalc.query import parameters_of

SERVICE = packaged_service()
APP = create_app(SERVICE, Settings(slack_signing_secret="a secret"))
PICTURES = r"^/cost\.(png|svg)$"  # the parameters of /cost, at half a second for each drawing
FORMS = r"\.(csv|xlsx|vl|png|svg)$|^/(estimate)?$"  # the same questions in other forms: asked less often
SOME_FORMS = FORMS if WHOLE else r"\.xlsx$|^/(estimate)?$"
DEAR = r"^/trend"  # it answers as of every year, each from what was known then
LIKE_COST = "accuracy|commitments|compare|cost.atom|launch|mlperf|plan|trend"  # with nearly all of its parameters
SOME = (
    f"^/(?!({LIKE_COST})$)" if WHOLE else "^/(offers|ask|small)$"
)  # each kind of wrong value takes tenths of a second
MAY_REFUSE = ("/cost.csv", "/offers/changes", "/offers/changes.csv", "/compare", "/compare.csv")
KEEPING = {"path_regex": "^/recipes", "method": ["POST", "DELETE"]}  # a service on fixed prices keeps no runs
FEW = 10
DATES = ["2024-02-29", "2026-07-01T12:00:00Z", "2025-06-01 06:30+02:00"]
KNOWN = {
    "model": ["resnet50", "ResNet-50", "rn50", "resnet18"],
    "layers": ["mlp:784-100-10", "cnn:28x28x1-32-64-10"],
    "currency": ["USD", "eur", "GBP"],
    "discount": ["0.12", "aws:0.1", "Lambda: 0.05"],
    "images_per_second": ["1450@1xA100-80GB", "3000.5 @ 8 x v100-16gb"],
    "recipe": ["mlperf-*", "FFCV-rn50-16ep"],
    "a": ["aws:p3.8xlarge", "own:1x RTX 3090"],
    "b": ["aws:p3.16xlarge:2", "lambda:gpu_8x_a100"],
    "own": ["1x RTX 3090", "8xV100"],
    "as_of": DATES,
    "since": DATES,
    "until": DATES,
    "target": [0.7, 0.757, 75.7],
    **{kind: list(SERVICE.names(SERVICE.catalogue()).spoken(kind)[:FEW])
       for kind in ("provider", "region", "instance_type", "accelerator")},
}  # fmt: skip
ANY_TEXT = {"type": "string"}
schemathesis.serializer.alias("*/*", "text/plain")


EVERY_KIND = {"examples": {"enabled": False}}  # test_examples asks every example
DRAWN = EVERY_KIND | {"coverage": {"enabled": False}}


def operations(**config):
    return schemathesis.openapi.from_wsgi("/openapi.json", APP, config=schemathesis.Config.from_dict(config))


def with_known_words(operations):
    """The same document, where each parameter has only words that the service knows: no other question finds something.

    What is said of machines and trainings of one's own is left out: it cannot say what must stand beside it. So are columns: each
    sheet has others.
    """
    left_out = (*parameters_of("owned", "described", "language", "stated"), "columns")
    operations.raw_schema["paths"] = inlined(operations.raw_schema)["paths"]
    paths = operations.raw_schema["paths"].items()
    for path, told in ((path, each) for path, methods in paths for each in methods.values()):
        told["parameters"] = [each for each in told.get("parameters", ()) if each["name"] not in left_out]
        for parameter in told["parameters"]:
            schema = parameter["schema"]
            is_layers = path.startswith("/small") and parameter["name"] == "model"
            narrow_down(schema.get("items", schema), "layers" if is_layers else parameter["name"])
    return operations


def narrow_down(schema, name):
    told = [each for each in schema.get("anyOf", ()) if each != ANY_TEXT] or [schema]
    narrower = {"enum": KNOWN[name]} if name in KNOWN else {"anyOf": told} if len(told) > 1 else dict(told[0])
    schema.clear()
    schema.update(narrower)


KNOWN_WORDS = with_known_words(operations(generation={"mode": "positive"}, phases=DRAWN))
ASKED_WELL = KNOWN_WORDS.exclude(path_regex=f"{PICTURES}|{FORMS}|{DEAR}").exclude(**KEEPING)
IN_OTHER_FORMS = KNOWN_WORDS.include(path_regex=SOME_FORMS).exclude(path_regex=f"{PICTURES}|{DEAR}")
ASKED_ONCE = KNOWN_WORDS.include(path_regex=f"{DEAR}$")  # its other forms are drawn elsewhere


def takes_any_text(operation):
    """Whether nothing that is sent could be wrong."""
    given = operation.get("parameters", ())
    return "requestBody" not in operation and all(each["schema"] == {"type": "string"} for each in given)


def asked_badly(phases):
    wrong = operations(generation={"mode": "negative"}, phases=phases)
    wrong.raw_schema["paths"] = inlined(wrong.raw_schema)["paths"]
    wrong = wrong.exclude(path_regex=f"{PICTURES}|{FORMS}").exclude(**KEEPING)
    for path, methods in wrong.raw_schema["paths"].items():
        for method in [name.upper() for name, operation in methods.items() if takes_any_text(operation)]:
            wrong = wrong.exclude(path=path, method=method)
    return wrong


EVERY_KIND_OF_WRONG = asked_badly(EVERY_KIND).include(path_regex=SOME)
DRAWN_WRONG = asked_badly(DRAWN).exclude(path_regex=SOME)


def asked(examples):
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


def asks_usual_target(case):
    """Whether a target could be given and is not."""
    could = any(each["name"] == "target" for each in case.operation.definition.raw.get("parameters", ()))
    return could and not (case.query or {}).get("target")


def hold(case):
    """Against the document. It cannot say which text is a sheet of questions, that FOCUS has no decimal commas, or that
    `since` is before `as_of`, that two machines train to a target, or which networks have a usual one: these may be refused."""
    may_refuse = (
        isinstance(case.body, str)
        or case.media_type not in (None, "application/json")
        or case.path in MAY_REFUSE
        or asks_usual_target(case)
    )
    excluded = [positive_data_acceptance] if may_refuse else []
    case.call_and_validate(excluded_checks=excluded, headers={"Accept-Encoding": "identity"})


@ASKED_WELL.parametrize()
@asked(5 if WHOLE else 1)
def test_what_the_document_allows_is_answered_as_it_says(case):
    hold(case)


@IN_OTHER_FORMS.parametrize()
@asked(1)
def test_so_it_is_as_a_sheet_as_a_picture_and_on_the_page(case):
    hold(case)


@ASKED_ONCE.parametrize()
@asked(1)
def test_so_it_is_of_every_year(case):
    hold(case)


@EVERY_KIND_OF_WRONG.parametrize()
@asked(1)
def test_what_the_document_forbids_is_refused_as_it_says(case):
    hold(case)


@DRAWN_WRONG.parametrize()
@asked(1)
def test_so_it_is_elsewhere(case):
    hold(case)


@pytest.fixture(scope="module")
def document():
    return inlined(APP.test_client().get("/openapi.json").json)


def test_it_is_sent_with_what_operations_share_standing_once(document):
    sent = APP.test_client().get("/openapi.json")
    assert len(sent.get_data()) < 300_000
    assert len(json.dumps(document)) > 900_000


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
    assert sheet == set(CostSchema().fields) - {"token", "format", "fields"}
    assert all(each["description"] for each in listed.values())
    assert [name for name, each in listed.items() if each.get("required")] == ["model"]
    assert listed["purchase"]["schema"]["items"]["anyOf"][0]["enum"] == [option.value for option in PurchaseOption]


def test_it_names_nothing_that_tomorrows_prices_add_to(document):
    assert "us-east-1" in (written := json.dumps(document["paths"]))  # the example
    assert not {"us-east-2", "p4de.24xlarge", "vgg16"} & set(re.findall(r"[\w.-]+", written))


def test_it_says_who_may_ask_where_and_what_comes_besides_answers(document):
    assert (document["servers"], document["security"]) == ([{"url": "/"}], [{}])
    answers = document["paths"]["/cost"]["get"]["responses"]
    assert set(answers) == {"200", "303", "304", "400", "404", "429", "503"}
    closed = create_app(SERVICE, Settings(api_tokens=("sesame",))).test_client()
    private = inlined(closed.get("/openapi.json?token=sesame").json)
    assert {next(iter(each)) for each in private["security"]} == set(private["components"]["securitySchemes"])
    assert "401" in private["paths"]["/cost"]["get"]["responses"]
    assert private["paths"]["/healthz"]["get"]["security"] == [{}]


def test_answers_are_described_by_their_own_types(document):
    described = document["components"]["schemas"]["Estimate"]
    assert list(described["properties"]) == list(NAMES)
    assert set(described["required"]) == set(NAMES)
    assert described["properties"]["hourly_rate"] == {"type": "number"}
    assert described["properties"]["billed_cost"] == {"type": ["number", "null"]}


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
        assert all(f"{method.upper()} {path}</code>" in page for method in methods)
    assert "<option>time</option>" in page
    assert "on_demand, spot, reserved" in page
    assert "http://" not in page
    assert "https://" not in page
    assert all(source.startswith("/static/") for source in re.findall(r'<script[^>]* src="([^"]*)"', page))
    assert page.count("<script>") == 1  # the theme's, allowed by its digest
    assert re.search("default-src 'none'.*script-src 'self' 'sha256-", response.headers["Content-Security-Policy"])


@pytest.mark.parametrize(
    "asked",
    ["as_of=2024-02-29", "as_of=2024-02-29 12:00", "discount=lambda:0.1", "discount=0.1,aws:0.2", "fx=CAD:1.35", "model=rn50",
     "model=ResNet-50", "accelerator=A100", "accelerator=V100-16GB", "accelerator=a100,h100", "provider=google cloud",
     "provider=AWS", "purchase=preemptible", "purchase=On-Demand", "purchase=spot,reserved", "term=3yr", "term=1 year",
     "recipe=mlperf-*", "frontier=yes", "frontier=1", "sort=TIME", "currency=eur", "limit=1e1"],
)  # fmt: skip
def test_what_people_say_is_in_the_document(client, document, asked):
    name, _, value = asked.partition("=")
    [told] = [each for each in document["paths"]["/cost"]["get"]["parameters"] if each["name"] == name]
    one = told["schema"].get("items", told["schema"])
    jsonschema_rs.validate(one, float(value) if one.get("type") in ("number", "integer") else value)
    assert client.get("/cost", query_string={"model": "resnet50", "target": "0.757", name: value}).status_code == 200


@pytest.mark.parametrize(
    "row",
    [{"model": "rn50", "target": 0.757}, {"provider": ["aws", "gcp"], "nodes": 1, "_note": None}, {"frontier": True}],
)
def test_the_rows_of_a_plan_are_in_the_document(client, document, row):
    described = document["paths"]["/plan"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    schema = described | {"components": document["components"]}
    allowed = jsonschema_rs.validator_for(schema).is_valid([row])
    assert allowed == (client.post("/plan", json=[row]).status_code == 200)


@pytest.mark.parametrize(("turn", "accept"), [*enumerate(["text/html", "text/csv", "*/*"])])
def test_every_type_that_comes_is_in_the_document(client, document, turn, accept):
    """Each path is asked for one of them, at night for all."""
    for path, methods in sampled(document["paths"].items(), one_in=3, first=turn):
        told = methods.get("get", {"parameters": (), "responses": {}})
        asked = {each["name"]: each["example"] for each in told["parameters"] if each.get("required")}
        is_asked = (
            "{" not in path and told["responses"] and (accept == "*/*" or "." not in path)
        )  # a form has its own type
        for question in (asked, asked | {"nosuch": "1"}) if is_asked else ():
            response = client.get(path, query_string=question, headers={"Accept": accept})
            content = told["responses"][str(response.status_code)]["content"]
            assert response.content_type.partition(";")[0] in content, (path, response.status_code)
