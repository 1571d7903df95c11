"""What travels over the socket, and the way to a daemon: frames, requests, the client, starting one."""
