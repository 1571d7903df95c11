"""Notes: four Markdown files for each project that asked for them, distilled from what was captured for people to read.

    sources.py -> digest.py -> curator.py or distil/ -> edits.py -> checking.py -> applying.py -> committing.py

Which projects have notes, `registry.py` says; where everything lies, `layout.py`. `sync.py` goes the whole way for one
project, `sweep.py` for all of them. Nothing here needs a daemon or a session.
"""
