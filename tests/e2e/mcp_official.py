"""The official client of the Model Context Protocol (PyPI: mcp) against `heapdb mcp`.

    mcp_official.py FOLDER BIG    with sample.heapdb, and with big.heapdb, of which nothing was asked; see
                                  mcp_test.sh
"""
import asyncio
import json
import os
import shutil
import sys
import time

import mcp
from mcp import StdioServerParameters

PARAMETERS = StdioServerParameters(command="heapdb", args=["mcp", sys.argv[1]])


async def talk(session):
    tools = await session.list_tools()
    assert "leaks" in [t.name for t in tools.tools]
    result = await session.call_tool("histogram", {"db": "sample.heapdb", "limit": 3})
    answer = json.loads(result.content[0].text)
    assert answer["row_count"] == 3 and answer["next_cursor"], answer
    result = await session.call_tool("object", {"db": "sample.heapdb", "target": "0x1"})
    assert "no such object" in result.content[0].text
    prompts = await session.list_prompts()
    prompt = await session.get_prompt(prompts.prompts[0].name, {"db": "sample.heapdb"})
    assert "overview" in prompt.messages[0].content.text
    listed = await session.list_resources()
    report = await session.read_resource(listed.resources[1].uri)
    assert report.contents[0].text.startswith("# Heap report")
    return len(tools.tools)


async def long_work(session, folder, log):
    """Work that is cancelled is ended by the server, too; work that goes on says how far it is."""
    seen = []

    async def on_progress(progress, total, message):
        seen.append((progress, message))

    work = asyncio.create_task(session.call_tool("dominators", {"db": "big.heapdb"}))
    await asyncio.sleep(0.1)
    work.cancel()
    try:
        await work
        assert False, "it was not cancelled"
    except asyncio.CancelledError:
        pass
    start = time.time()
    result = await session.call_tool("open", {})
    assert "big.heapdb" in result.content[0].text
    with open(log, encoding="utf-8") as f:
        assert "notifications/cancelled" in f.read()
    waited = time.time() - start
    result = await session.call_tool("dominators", {"db": "other.heapdb", "limit": 3}, progress_callback=on_progress)
    structured = getattr(result, "structured_content", None) or result.structuredContent
    assert structured["row_count"] == 3 and json.loads(result.content[0].text) == structured
    assert seen and all(a < b for (a, _), (b, _) in zip(seen, seen[1:])), seen
    print(f"official client: cancelled, next answer after {waited:.2f} s, then {len(seen)} messages of progress")


async def with_big(connect):
    """A server of its own, whose input is written down."""
    big = sys.argv[2]
    folder = os.path.join(os.path.dirname(big), "official")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(big, folder)
    # A second one that nobody has asked: the first may be answered before the cancellation comes.
    shutil.copy(os.path.join(folder, "big.heapdb"), os.path.join(folder, "other.heapdb"))
    log = folder + ".log"
    await connect(StdioServerParameters(command="sh", args=[
        "-c", 'tee "$1" | heapdb mcp "$0"', folder, log]), lambda session: long_work(session, folder, log))


async def handshake(parameters, then):
    from mcp.client.stdio import stdio_client
    async with stdio_client(parameters) as (read, write):
        async with mcp.ClientSession(read, write) as session:
            await session.initialize()
            await then(session)


async def old_protocol():
    """The handshake of 2025-11-25."""
    from mcp.client.stdio import stdio_client
    async with stdio_client(PARAMETERS) as (read, write):
        async with mcp.ClientSession(read, write) as session:
            begin = await session.initialize()
            name = getattr(begin, "server_info", None) or begin.serverInfo
            assert name.name == "heapdb", begin
            print("official client, handshake:", await talk(session), "tools")


async def new_protocol():
    """What the client itself prefers: 2026-07-28 where it knows that."""
    if not hasattr(mcp, "Client"):
        print("official client: this version knows no 2026-07-28")
        return
    from mcp.client.stdio import stdio_client
    async with mcp.Client(stdio_client(PARAMETERS)) as client:
        print("official client,", client.protocol_version, await talk(client), "tools")


asyncio.run(old_protocol())
asyncio.run(new_protocol())
asyncio.run(with_big(handshake))
