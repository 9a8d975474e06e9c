"""The documents are pages of the server, and errors lead to the parameters that they name."""

import re
from html import unescape

import pytest

from api.web.interface.manual import FOLDER, titles


@pytest.mark.parametrize("page", sorted(titles()))
def test_every_document_is_a_page_whose_links_lead_on(client, page):
    text = client.get(f"/docs/{page}").get_data(as_text=True)
    assert f"<h1>{titles()[page]}".partition("<")[0] in unescape(text)
    for target in re.findall(r'(?:href|src)="(/docs[^"]*)"', text):
        path, _, place = unescape(target).partition("#")
        with client.get(path) as led_to:
            assert led_to.status_code == 200, target
            assert not place or f'id="{place}"' in led_to.get_data(as_text=True), target
    assert not re.search(r'(?:href|src)="(?!/|#|https?:)', text)


def test_a_name_of_none_names_the_nearest(client):
    assert client.get("/docs/referenc").json["detail"] == "no document is called referenc: did you mean reference?"


def test_no_other_file_of_the_repository_can_be_read(client):
    assert (FOLDER.parent / "README.md").exists()
    assert client.get("/docs/files/../README.md").status_code == 404
    assert client.get("/docs/files/%2e%2e/README.md").status_code == 404


def test_an_error_names_its_kind_and_leads_to_its_parameters(client):
    problem = client.get("/cost?model=resnet50&provider=awss&nosuch=1").json
    assert problem["code"] == "bad_request"
    assert problem["links"] == {"provider": "/docs/reference#provider"}
    assert 'id="provider"' in client.get("/docs/reference").get_data(as_text=True)
