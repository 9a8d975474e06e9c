"""Blocks stay within Slack's limits whatever they are made of, and text shows as it is."""

import pytest

from api.slack.message import Message, clipped, escape, link, section, table


@pytest.mark.parametrize(("rows", "columns", "size"), [(300, 3, 2), (300, 9, 70), (5, 30, 5), (2, 2, 9000), (0, 2, 1)])
def test_a_table_holds_what_slack_takes_and_no_more(rows, columns, size):
    block = table([("head", "left")] * columns, [["x" * size] * columns] * rows)
    cells = [[cell["text"] for cell in row] for row in block["rows"]]
    assert cells[0] == ["head"] * min(columns, 20)
    assert len(cells) <= 100
    assert max(map(len, cells)) <= 20
    total = sum(len(text) for row in cells for text in row)
    assert total <= 10_000
    most = 1 + min(rows, 99)
    assert len(cells) == most or total + 80 * columns > 10_000


def test_a_cell_is_never_empty_and_holds_no_control_sign():
    [_, row] = table([("a", "left"), ("b", "left")], [["", "x\x1b\0y"]])["rows"]
    assert [cell["text"] for cell in row] == ["–", "x??y"]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a & b", "a &amp; b"),
        ("<!here>", "&lt;!here&gt;"),
        ("&amp;", "&amp;amp;"),
        ("=1+1 é 🎉", "=1+1 é 🎉"),
        ("\x07", "?"),
    ],
)
def test_text_is_escaped(text, shown):
    assert escape(text) == shown


@pytest.mark.parametrize("most", range(4, 12))
def test_no_entity_is_cut(most):
    cut = clipped("a&lt;b&amp;c", most)
    assert len(cut) <= most
    assert cut.replace("&lt;", "").replace("&amp;", "").count("&") == 0


def test_a_link_cannot_be_left_through_its_address_or_words():
    assert link("https://x.org/?a=1&b=|>", "<b>") == "<https://x.org/?a=1&amp;b=%7C%3E|&lt;b&gt;>"


def test_a_section_and_a_fallback_are_clipped():
    assert len(section("x" * 5000)["text"]["text"]) == 3000
    payload = Message("x" * 9000, (section("y"),)).payload()
    assert (len(payload["text"]), payload["response_type"]) == (4000, "ephemeral")
    assert "blocks" not in Message("x", (section("y"),), True).without_blocks().payload()
