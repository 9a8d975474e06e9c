"""Sources with an address for each part that names one."""

import pytest

from api.formats.source_links import parts

CODE = "github.com/mosaicml/composer/tree/6405188805a0"


@pytest.mark.parametrize(
    ("source", "urls"),
    [
        ("github mosaicml/composer@6405188805a0:docs/train.md", [f"https://{CODE}/docs/train.md"]),
        ("carried over from mosaicml/composer@6405188805a0 a/b.csv, table 2", [f"https://{CODE}/a/b.csv"]),
        ("mosaicml/composer@6405188805a0 a.json (https://verda.com/products)", [f"https://{CODE}/a.json", "https://verda.com/products"]),
        ("Wightman et al. 2021, arXiv:2110.00476, table 2", ["https://arxiv.org/abs/2110.00476"]),
        ("javascript:alert(1) of somebody", []),
        ("own measurement", []),
    ],
)  # fmt: skip
def test_each_part_that_names_one_has_its_address(source, urls):
    found = list(parts(source))
    assert "".join(part.text for part in found) == source
    assert [part.url for part in found if part.url] == urls
