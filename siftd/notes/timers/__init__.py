"""Timers: what the system starts every half hour, so that notes are kept while nobody works.

`order.py` says what is run; `systemd.py`, `launchd.py`, `cron.py` and `nix.py` write it down for one scheduler each;
`installing.py` chooses one, writes its files and takes them out again, every other byte as it was.
"""
