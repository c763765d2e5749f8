"""The official client of the Model Context Protocol (PyPI: mcp) against `heapdb mcp`.

    mcp_official.py FOLDER    with sample.heapdb; see mcp_test.sh
"""
import asyncio
import json
import sys

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
    assert "no object" in result.content[0].text
    prompts = await session.list_prompts()
    prompt = await session.get_prompt(prompts.prompts[0].name, {"db": "sample.heapdb"})
    assert "overview" in prompt.messages[0].content.text
    listed = await session.list_resources()
    report = await session.read_resource(listed.resources[1].uri)
    assert report.contents[0].text.startswith("# Heap report")
    return len(tools.tools)


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
