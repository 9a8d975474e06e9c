"""What a page says of a question that it cannot answer: names it suggests are links, and a machine is asked for by a form."""

import html
import re

import pytest

from api.questions.suggestions import asked_back, unknown

BROWSER = {"Accept": "text/html"}
ASKED = "model=resnet50&target=0.757"


def links(response):
    page = response.get_data(as_text=True)
    errors = "".join(re.findall(r'<p class="error"[^>]*>.*?</p>', page))
    return {
        html.unescape(text): html.unescape(url) for url, text in re.findall(r'<a href="([^"]*)">([^<]*)</a>', errors)
    }


@pytest.mark.parametrize(
    ("path", "name", "address"),
    [
        ("/?model=resnet5O&target=0.757&provider=aws", "resnet50", "/?target=0.757&provider=aws&model=resnet50"),
        (f"/?{ASKED}&provider=aws,gpc&limit=5", "gcp", f"/?{ASKED}&limit=5&provider=aws,gcp"),
        (f"/?{ASKED}&instance_type=p3.2xlarge,p3", "p3.8xlarge", f"/?{ASKED}&instance_type=p3.2xlarge,p3.8xlarge"),
        (f"/?{ASKED}&provder=aws", "provider", f"/?{ASKED}&provider=aws"),
        (
            f"/compare?{ASKED}&a=aws:p3.8xlarg:2&b=aws:g5.xlarge",
            "p3.8xlarge",
            f"/compare?{ASKED}&b=aws:g5.xlarge&a=aws:p3.8xlarge:2",
        ),
        (
            f"/compare?{ASKED}&a=aws:p3.2xlarge&b=own:2x RTX 409",
            "RTX 4090",
            f"/compare?{ASKED}&a=aws:p3.2xlarge&b=own:2x+RTX+4090",
        ),
        (f"/?{ASKED}&sort=costs", "cost", f"/?{ASKED}&sort=cost"),
        ("/offers?provider=lamda", "lambda", "/offers?provider=lambda"),
        ("/models/resnet5O", "resnet50", "/models/resnet50"),
        ("/offer", "/offers", "/offers"),
    ],
)
def test_the_name_that_is_suggested_asks_the_same_with_it(client, path, name, address):
    wrong = client.get(path, headers=BROWSER)
    assert wrong.status_code in (400, 404)
    assert links(wrong)[name] == address
    assert client.get(address, headers=BROWSER).status_code == 200
    said = client.get(path.replace("/?", "/cost?"), headers={"Accept": "application/json"}).json
    assert "did you mean" in said["detail"]


def test_a_message_comes_apart_as_it_was_put_together():
    message = unknown("model", "resnet5", ["resnet50", "resnet56"], "/models")
    assert asked_back(message) == (
        'unknown model "resnet5": did you mean ',
        "model",
        "resnet5",
        ["resnet50", "resnet56"],
    )
    assert asked_back(unknown("model", "x", ["resnet50"], "/models lists them")) is None


@pytest.mark.parametrize("text", ["<b>resnet5", 'resnet5"><i>', "resnet5&x=1", "resnet5\x00"])
def test_an_odd_name_becomes_no_markup(client, text):
    page = client.get("/", query_string={"model": text, "target": "0.757"}, headers=BROWSER)
    assert page.status_code in (400, 404)
    assert not re.search("<[bi]>", page.get_data(as_text=True))
    assert all(url == f"/?target=0.757&model={name}" for name, url in links(page).items())


@pytest.mark.parametrize("name", ["self", "path", "changes", "shelf"])
def test_a_parameter_may_be_called_anything(client, name):
    page = client.get(f"/?{ASKED}&{name}=1", headers=BROWSER)
    assert page.status_code == 400
    assert all(f"&{right}=1" in url and f"&{name}=" not in url for right, url in links(page).items())


@pytest.mark.parametrize("path", ["/offers/history", "/offers/history?instance_type=&provider=aws"])
def test_history_without_a_machine_is_a_form(client, path):
    page = client.get(path, headers=BROWSER)
    text = page.get_data(as_text=True)
    assert (page.status_code, 'role="alert"' in text) == (200, False)
    assert 'name="instance_type"' in text
    assert '<option value="p3.8xlarge">' in text
    assert client.get(path).status_code == 400
    assert client.get(f"{path}{'&' if '?' in path else '?'}nonsense=1", headers=BROWSER).status_code == 400
