"""`siftd mcp`: the memory as tools for an agent, over standard input and output.

A translation and nothing else: a tool asks the socket, through `siftd.wire.client`. It holds no database and no state
of the daemon, so that a daemon may end, be replaced and start again under it. The SDK is imported by `serve` only."""
