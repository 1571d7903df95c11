"""Every error of siftd, one class for each different reaction.

    SiftdError
      ConfigInvalid            correct the file; the last good configuration holds meanwhile
      HomeUnusable             choose or repair the home
      ProtocolError            drop the connection, keep serving
        FrameTooLarge
      RequestInvalid           correct the request; the connection goes on
        NothingFound           look for what is there
        MatchChanged           look again at what would be forgotten
      EnvelopeRejected         count it with its reason; the client goes on
      PayloadTooLarge          count it; nothing of it is kept
      DocumentRefused          leave this document out, and say why; the others go on
      Faltered                 nothing is wrong with what was sent: it is tried again, or spooled
      LogError
        DiskFull               refuse captures, serve reads, retry
        LogBroken              close the segment, never sync it again
      StoreError
        SchemaTooNew           upgrade siftd
        MigrationFailed        nothing was applied
        StoreCorrupt           set the database aside and rebuild it
        StoreClosed            end the stream: this daemon ends, the next one answers
      DaemonUnreachable        start it, or tell the person how
        DaemonAlreadyRunning   leave it alone
      DaemonTimedOut           it hangs: tell the person
      RequestRefused           the daemon's own answer: show it
      PackageChanged           end the daemon: what it would import is of another version
      StopUnheld               make room, and stop it once more
      HttpRefused              correct the HTTP request, log in, or come again later: `status` says which
      PortTaken                choose another port
      KnowledgeUnreadable      build the snapshot again
      SettingsUnreadable       an agent's settings file does not parse: leave it untouched

Messages say what happened, to what, and the remedy; they never quote captured text.
"""

from __future__ import annotations


class SiftdError(Exception):
    """Anything siftd raises on purpose. `code` is for programs, `hint` for people."""

    code = "error"
    retry = False
    """Whether the same may be kept a moment later: a hook's frame that is refused so goes to the spool."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class ConfigInvalid(SiftdError):
    """The configuration has an unknown key, a wrong type or does not parse."""

    code = "config_invalid"


class HomeUnusable(SiftdError):
    """The home cannot hold sockets, locks or files of ours."""

    code = "home_unusable"


class ProtocolError(SiftdError):
    """The bytes on a connection are not frames: that connection ends, nothing else does."""

    code = "protocol_error"


class FrameTooLarge(ProtocolError):
    """A frame announces more bytes than any frame may have."""

    code = "frame_too_large"


class RequestInvalid(SiftdError):
    """A well-framed request that cannot be understood or carried out as asked."""

    code = "bad_request"


class NothingFound(RequestInvalid):
    """There is nothing of the name that was given."""

    code = "not_found"


class MatchChanged(RequestInvalid):
    """What would be forgotten is no longer what was shown: nothing was."""

    code = "match_changed"


class EnvelopeRejected(SiftdError):
    """An agent's envelope that is no event. `reason` is a short, countable name without captured text."""

    code = "envelope_rejected"

    def __init__(self, reason: str, message: str = "") -> None:
        super().__init__(message or f"the envelope was rejected: {reason}")
        self.reason = reason


class PayloadTooLarge(EnvelopeRejected):
    """A payload beyond what any event may carry."""

    code = "payload_too_large"

    def __init__(self, message: str = "the payload is larger than 16 MiB") -> None:
        super().__init__("payload_too_large", message)


class DocumentRefused(SiftdError):
    """A document that is not read. `reason` is a short, countable name; the message is for people."""

    code = "document_refused"

    def __init__(self, reason: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.reason = reason


class WrongWorkspace(SiftdError):
    """A hook's frame comes from a folder of another workspace: nothing is told to it, and it is kept there."""

    code = "wrong_workspace"
    retry = True


class Faltered(SiftdError):
    """The daemon lacked something for a moment: a descriptor, memory, a thread, a file of its own."""

    code = "faltered"
    retry = True


class RequestFailed(SiftdError):
    """The daemon failed at a request, for a reason of its own; its log has the details."""

    code = "internal"


def is_transient(error: Exception) -> bool:
    """Whether an exception is a fault of our own that may be over at the next try, rather than one of what was sent."""
    is_ours = isinstance(error, OSError | MemoryError | ImportError | RuntimeError)
    return is_ours and not isinstance(error, RecursionError)


class LogError(SiftdError):
    """The write-ahead log could not do what was asked."""

    code = "log_error"
    retry = True


class DiskFull(LogError):
    """No space: nothing of this record is kept, and a later append may succeed."""

    code = "disk_full"


class LogBroken(LogError):
    """A sync failed: what the segment holds after its last good sync is unknown."""

    code = "log_broken"


class StoreError(SiftdError):
    """The database could not do what was asked."""

    code = "store_error"


class SchemaTooNew(StoreError):
    """The database was written by a newer siftd."""

    code = "schema_too_new"


class MigrationFailed(StoreError):
    """A migration did not apply; the database is as it was before."""

    code = "migration_failed"


class StoreCorrupt(StoreError):
    """The database file is damaged."""

    code = "store_corrupt"


class StoreClosed(StoreError):
    """The daemon ends."""

    code = "store_closed"
    retry = True


class DaemonUnreachable(SiftdError):
    """No daemon listens for this workspace, and none could be started."""

    code = "daemon_unreachable"


class DaemonAlreadyRunning(DaemonUnreachable):
    """Another daemon holds this workspace's lock."""

    code = "daemon_running"


class DaemonTimedOut(SiftdError):
    """The daemon accepted a request and did not answer in time."""

    code = "daemon_timed_out"


class RequestRefused(SiftdError):
    """The daemon answered with an error. `code` is the daemon's."""

    def __init__(self, code: str, message: str, *, hint: str = "", retry: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.code = code
        self.retry = retry


class PackageChanged(SiftdError):
    """A module that is imported late is no longer the file that it was when the daemon started."""

    code = "package_changed"
    retry = True


class StopUnheld(SiftdError):
    """The daemon ends, as it was asked to, but no mark could be made that keeps it down."""

    code = "stop_unheld"


class HttpRefused(SiftdError):
    """A request by HTTP that is refused with `status`; `code` tells programs why."""

    def __init__(
        self, status: int, code: str, message: str, *, hint: str = "", retry_after_seconds: int | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.code = code
        self.retry_after_seconds = retry_after_seconds


class PortTaken(SiftdError):
    """Somebody listens at the port that the page was to have."""

    code = "port_taken"


class SettingsUnreadable(SiftdError):
    """An agent's settings file does not parse: it is refused, untouched."""

    code = "settings_unreadable"


class KnowledgeUnreadable(SiftdError):
    """A snapshot of a codebase does not parse, or is of a later siftd."""

    code = "knowledge_unreadable"
