"""How the common clients are told of the server."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Client:
    """An assistant: where its configuration stands, and what the server's command is written as there."""

    where: str
    entry: Callable[[Sequence[str]], str]


def _json(key: str, **more: str) -> Callable[[Sequence[str]], str]:
    def entry(command: Sequence[str]) -> str:
        server = {**more, "command": command[0], "args": list(command[1:])}
        return json.dumps({key: {"costcalc": server}}, indent=2)

    return entry


def _toml(command: Sequence[str]) -> str:
    arguments = ", ".join(map(json.dumps, command[1:]))
    return f"[mcp_servers.costcalc]\ncommand = {json.dumps(command[0])}\nargs = [{arguments}]"


def _claude_code(command: Sequence[str]) -> str:
    return f"claude mcp add costcalc -- {shlex.join(command)}"


CLIENTS = {
    "claude-code": Client("run in a terminal", _claude_code),
    "claude-desktop": Client("claude_desktop_config.json (Settings, Developer, Edit Config)", _json("mcpServers")),
    "cursor": Client("~/.cursor/mcp.json", _json("mcpServers")),
    "vscode": Client(".vscode/mcp.json", _json("servers", type="stdio")),
    "gemini": Client("~/.gemini/settings.json", _json("mcpServers")),
    "codex": Client("~/.codex/config.toml", _toml),
}
"""By name: https://modelcontextprotocol.io/docs/develop/connect-local-servers, https://code.claude.com/docs/en/mcp,
https://cursor.com/docs/context/mcp, https://code.visualstudio.com/docs/copilot/customization/mcp-servers,
https://geminicli.com/docs/tools/mcp-server, https://developers.openai.com/codex/mcp; as of November 2026."""


def configuration(client: str, command: Sequence[str]) -> str:
    """What to write, and where, so that `client` starts the server with this command."""
    known = CLIENTS[client]
    return f"# {known.where}\n{known.entry(command)}"
