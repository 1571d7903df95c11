"""Writing into files that are somebody else's, and taking it out again without a trace: for the clients' installers.

`json_edit` and `json_spans` change JSON between the bytes that are there, `files` replaces a file whole, `manifest`
remembers what that changed, `installation` notes which siftd is here, `slash` reads what a person typed behind `/mem`.
"""
