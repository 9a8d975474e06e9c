"""`costcalc mcp` as a client starts it: a process that speaks the protocol on its standard input and output."""

import json
import os
import subprocess
import sys

import anyio.from_thread
import pytest
from click.testing import CliRunner
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from support.assistants import QUESTIONS

from api.cli.main import main

COMMAND = ["-c", "from api.cli.main import main; main()", "mcp"]


@pytest.fixture
def environment(filled_url):
    return {"COSTCALC_DATABASE_URL": filled_url}


def test_a_client_starts_the_command_and_asks_every_tool(environment):
    server = StdioServerParameters(command=sys.executable, args=COMMAND, env=environment)

    async def asked():
        async with Client(stdio_client(server)) as client:
            tools = await client.list_tools()
            return tools, {name: await client.call_tool(name, question) for name, question in QUESTIONS.items()}

    with anyio.from_thread.start_blocking_portal() as portal:
        tools, found = portal.call(asked)
    assert {tool.name for tool in tools.tools} > set(found)
    assert [name for name, answer in found.items() if answer.is_error] == []
    assert json.loads(found["cost"].content[0].text)["picks"][0]["name"] == "cheapest"
    assert json.loads(found["doctor"].content[0].text)["well"]


def test_a_line_that_is_no_request_is_answered_by_an_error_and_the_next_one_as_ever(environment):
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    begin = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": client}
    without_id = [{"jsonrpc": "2.0", "id": wrong, "method": "tools/list"} for wrong in ({}, [], None, True, 1.5)]
    lines = ['{"jsonrpc": "2.0", "id": 1,', "[]", '{"id": 1}', *map(json.dumps, [*without_id, begin])]
    ran = subprocess.run(
        [sys.executable, *COMMAND],
        input="\n".join([*lines, ""]),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    answers = [json.loads(line) for line in ran.stdout.splitlines()]
    assert [answer["id"] or answer["error"]["code"] for answer in answers] == [-32700, *[-32600] * 7, 7]


def test_the_doctor_says_what_to_do(environment):
    result = CliRunner().invoke(main, ["mcp", "doctor"], env=environment)
    assert "days old in the median; by provider: " in result.stdout
    assert result.exit_code == 0


@pytest.mark.parametrize(
    ("address", "status"), [("postgresql://nobody@127.0.0.1:1/none?connect_timeout=1", 1), ("mysql://x", 2)]
)
def test_the_doctor_names_a_store_out_of_reach(address, status):
    result = CliRunner().invoke(main, ["mcp", "doctor"], env={"COSTCALC_DATABASE_URL": address})
    assert result.exit_code == status
    assert "Connection refused" in result.stderr or "write sqlite:///" in result.stderr


def test_the_doctor_names_a_store_that_cannot_be_read(tmp_path):
    broken = tmp_path / "prices.sqlite3"
    broken.write_bytes(b"not a database, but long enough to look like one" * 100)
    result = CliRunner().invoke(main, ["mcp", "doctor"], env={"COSTCALC_DATABASE_URL": f"sqlite:///{broken}"})
    assert result.exit_code == 1
    assert str(broken) in result.stderr + result.stdout
