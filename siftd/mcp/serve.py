"""The server: which tools it offers, what it says of itself, and its life on standard input and output."""

from __future__ import annotations

import functools
import inspect
import os
import select
import threading
import time
from collections.abc import Callable
from typing import Any

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp.types import ToolAnnotations

import siftd
from siftd import instructions as lines
from siftd.errors import SiftdError
from siftd.mcp.link import Link
from siftd.mcp.sampling import Sampling
from siftd.mcp.tools import Tools

READ = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
ADD = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
CHANGE = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True, open_world_hint=False)
LAST_SECONDS = 3.0
"""What is being answered when the agent ends has so long; a daemon that hangs would keep us for ten times that."""
DEFAULT = (("search", READ), ("timeline", READ), ("show", READ), ("remember", ADD), ("brief", READ))


def run(surface: str) -> int:
    """Serve until standard input ends; return the exit status."""
    server = make_server(Link.from_environment(os.environ), surface)
    threading.Thread(target=_end_with_the_agent, args=(os.dup(0),), daemon=True).start()
    server.run()
    return 0


def _end_with_the_agent(stdin: int) -> None:
    """End the process soon after whoever holds the other end of standard input is gone."""
    hang_up = select.poll()
    hang_up.register(stdin, 0)
    hang_up.poll()
    time.sleep(LAST_SECONDS)
    os._exit(0)


def make_server(link: Link, surface: str = "default") -> MCPServer:
    """Return the server with the tools of a surface, `default` or `full`."""
    tools, instructions = [_tool(getattr(Tools(link), name), hints) for name, hints in DEFAULT], lines.SERVER
    if surface == "full":
        from siftd.mcp import document_tools, forge_tools, graph_tools, pod_tools, rekal_tools

        every, instructions = rekal_tools.FullTools(link), rekal_tools.INSTRUCTIONS
        hints_of = {"read": READ, "add": ADD, "change": CHANGE}
        tools += [_tool(getattr(every, name), hints_of[how], is_structured=True) for name, how in rekal_tools.FULL]
        tools += [_tool(getattr(pod_tools.PodTools(link), name), READ) for name in pod_tools.PODS]
        tools += [_tool(getattr(graph_tools.GraphTools(link), name), READ) for name in graph_tools.GRAPH]
        tools.append(_tool(document_tools.DocumentTools(link).ingest, ADD))
        tools.append(_tool(forge_tools.ForgeTools(link).forge_memory, CHANGE))
    return MCPServer(
        "siftd",
        version=siftd.__version__,
        instructions=instructions,
        tools=tools,
        log_level="WARNING",
        middleware=[Sampling(link)],
    )


def _tool(method: Callable[..., Any], hints: ToolAnnotations, *, is_structured: bool | None = None) -> Tool:
    """Return a method as a tool. It refuses arguments that it does not know: a misspelt filter answers too much."""
    tool = Tool.from_function(
        _answering(method),
        name=method.__name__,
        description=inspect.cleandoc(method.__doc__ or "").replace("\n", " "),
        annotations=hints,
        structured_output=method.__annotations__["return"] is not str if is_structured is None else is_structured,
    )
    arguments = tool.fn_metadata.arg_model
    arguments.model_config["extra"] = "forbid"
    arguments.model_rebuild(force=True)
    tool.parameters = _without_titles(arguments.model_json_schema(by_alias=True))
    return tool


def _answering(method: Callable[..., Any]) -> Callable[..., Any]:
    """Return the method with what siftd refuses as a result that says what to do."""

    @functools.wraps(method)
    def answer(*args: Any, **kwargs: Any) -> Any:
        try:
            return method(*args, **kwargs)
        except SiftdError as error:
            raise ToolError(f"{error.message}; {error.hint}" if error.hint else error.message) from error

    return answer


def _without_titles(schema: Any) -> Any:
    """Return a schema without the titles that only repeat a property's name: a fifth of what a tool costs."""
    if isinstance(schema, list):
        return [_without_titles(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without_titles(value) for name, value in schema.items() if name != "title" or not isinstance(value, str)
    }
