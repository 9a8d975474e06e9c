"""Requests to an ASGI application, without a server."""

import asyncio
from concurrent.futures import ThreadPoolExecutor


async def ask(app, path="/cost", query=b"", method="GET", headers=(), pieces=(b"",), client="10.0.0.1", most=None):
    """Status, headers and body; `pieces` are what arrives of the body, None for a client that stops sending. One that stops
    reading does so once it has `most` bytes."""
    left = list(pieces)
    got = {"body": b""}

    async def receive():
        piece = left.pop(0)
        if piece is None:
            await asyncio.sleep(3600)
        return {"type": "http.request", "body": piece, "more_body": bool(left)}

    async def send(message):
        if message["type"] == "http.response.start":
            got.update(status=message["status"], headers=dict(message["headers"]))
        else:
            got["body"] += message.get("body", b"")
        if most is not None and len(got["body"]) > most:
            await asyncio.sleep(3600)

    scope = {"type": "http", "http_version": "1.1", "method": method, "scheme": "http", "path": path, "root_path": "",
             "raw_path": path.encode(), "query_string": query, "headers": [(b"host", b"localhost"), *headers],
             "client": (client, 1), "server": ("127.0.0.1", 80)}  # fmt: skip
    await app(scope, receive, send)
    return got


def run(coroutine):
    """What a coroutine answers, run beside the loop that a browser's driver may have left in this thread."""
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, coroutine).result()
