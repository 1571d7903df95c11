"""`mem web`: a page and an HTTP API on this machine, in a process of its own that ends when nobody looks any more.

A translation and nothing else, as `siftd.mcp` is: a route asks the socket, through `siftd.wire.workspace_client`. It
holds no database and no state of a daemon, so that a daemon may end, be replaced and start again under it.

`table.py` lists the routes; what guards them (`guard.py`), describes them (`openapi.py`) and refuses in the tests is
made from it, so that none can be forgotten. Starlette and uvicorn are imported by the served process alone
(`process.py`): the command `mem web` is `launch.py`, which loads neither.
"""
