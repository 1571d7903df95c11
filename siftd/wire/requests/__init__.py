"""The requests of the socket, each beside what answers it: told apart by `kind`, which is the struct's name.

A request is a struct that the daemon decodes; an answer is a TypedDict: plain JSON at run time, checked by mypy where
it is made (`siftd.daemon.handlers`) and where it is read. Structs for answers were rejected: whoever reads them loads
msgspec, and `mem search` would start a quarter slower. Clients write requests with `siftd.wire.asking`.

Keys on the wire are camelCase. New fields have defaults, types never change, unknown fields are ignored. A request that
is refused is answered with `{"ok":false,"retry":…,"error":{"code","message","hint"}}`.
"""

from siftd.filters import Filters as Filters
from siftd.filters import Moment as Moment
from siftd.wire.requests.capturing import *
from siftd.wire.requests.conversations import *
from siftd.wire.requests.decoding import *
from siftd.wire.requests.documents import *
from siftd.wire.requests.erasing import *
from siftd.wire.requests.facts import *
from siftd.wire.requests.finding import *
from siftd.wire.requests.giving import *
from siftd.wire.requests.graph import *
from siftd.wire.requests.knowledge import *
from siftd.wire.requests.living import *
from siftd.wire.requests.memories import *
from siftd.wire.requests.overview import *
from siftd.wire.requests.pausing import *
from siftd.wire.requests.pods import *
from siftd.wire.requests.request import Request as Request
from siftd.wire.requests.request import answer_type as answer_type
from siftd.wire.requests.summarising import *
from siftd.wire.requests.team import *
from siftd.wire.requests.transferring import *
from siftd.wire.requests.watching import *
