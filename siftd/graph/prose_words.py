"""The words by which a sentence says how two things hang together, and those by which a name is known."""

from __future__ import annotations

from typing import NamedTuple

from siftd.graph.model import EntityType


class Verb(NamedTuple):
    """A phrase between two names."""

    relation: str
    is_reversed: bool = False
    """Whether the second name is the source: "is maintained by"."""
    subject: EntityType | None = None
    """What the source is, when its words do not say it."""
    object: EntityType | None = None


_PHRASES: dict[Verb, str] = {
    Verb("DEPENDS_ON"): (
        "depends on|depend on|relies on|rely on|requires|require|needs|is dependent on|are dependent on|"
        "depends upon|has a dependency on|depends heavily on|depends directly on|depends only on|also depends on"
    ),
    Verb("USES"): (
        "uses|use|is using|are using|consumes|is built on|is built with|is built on top of|is powered by|makes use of|"
        "runs on top of|now uses|also uses|is backed by"
    ),
    Verb("CALLS"): "calls|invokes",
    Verb("WORKS_ON", subject="person"): (
        "works on|work on|is working on|are working on|maintains|maintain|owns|own|leads|lead|manages|develops|"
        "is responsible for|are responsible for|is the owner of|is the maintainer of|is the lead of|is an owner of|"
        "is a maintainer of|contributes to|is in charge of|looks after|runs point on|works mainly on|works mostly on|"
        "is on|are on|joined|works for|works at|works in|now works on|also works on"
    ),
    Verb("WORKS_ON", is_reversed=True, subject="person"): (
        "is maintained by|are maintained by|is owned by|are owned by|is led by|are led by|is managed by|"
        "is developed by|maintained by|owned by|belongs to the care of|is looked after by"
    ),
    Verb("CREATED_BY", object="person"): (
        "was created by|were created by|is created by|was written by|is written by|was built by|was designed by|"
        "was authored by|was made by|was introduced by|was started by|created by|written by|authored by"
    ),
    Verb("CREATED_BY", is_reversed=True, object="person"): "created|wrote|authored|designed|founded|built",
    Verb("PART_OF"): (
        "is part of|are part of|is a part of|belongs to|belong to|is a member of|are members of|is a module of|"
        "is a component of|is included in|is a subproject of|is a submodule of"
    ),
    Verb("PART_OF", is_reversed=True): "consists of|is made of|contains|includes|comprises|is composed of",
    Verb("REPLACES"): (
        "replaces|replaced|supersedes|superseded|is a replacement for|is the successor of|is the successor to"
    ),
    Verb("REPLACES", is_reversed=True): (
        "was replaced by|is replaced by|were replaced by|has been replaced by|was superseded by|is superseded by|"
        "has been superseded by|was replaced with|is succeeded by"
    ),
    Verb("RENAMED_TO"): (
        "was renamed to|is renamed to|has been renamed to|were renamed to|renamed to|is now called|is now named|"
        "is now known as|was renamed into|has been renamed"
    ),
    Verb("RENAMED_TO", is_reversed=True): (
        "formerly|formerly known as|formerly called|previously known as|previously called|was formerly|"
        "was formerly called|was formerly known as|was previously called|was previously known as|used to be called|"
        "used to be known as|used to be named"
    ),
    Verb("INTEGRATES_WITH"): (
        "integrates with|integrate with|is integrated with|connects to|connect to|talks to|talk to|"
        "communicates with|is connected to|interfaces with"
    ),
    Verb("STORES_IN"): (
        "persists to|writes to|is stored in|are stored in|saves to|persists in|stores data in|is persisted in"
    ),
    Verb("LOCATED_IN", object="place"): (
        "is located in|are located in|is hosted in|is hosted at|is based in|are based in|lives in|runs in|"
        "is deployed in|is deployed to|is situated in|sits in|is hosted on|runs on|is deployed on"
    ),
    Verb("RELATED_TO"): "is related to|relates to|is associated with",
    Verb("CAUSED_BY"): "is caused by|was caused by",
    Verb("DERIVES_FROM"): (
        "derives from|is derived from|was derived from|is based on|is a fork of|was forked from|extends"
    ),
    Verb("CONTRADICTS"): "contradicts|conflicts with",
    Verb("REFERENCES"): "references|refers to",
    Verb("REPORTS_TO", subject="person", object="person"): "reports to",
}
ALIAS = "also known as|aka|a.k.a.|is short for|stands for|is also called|is also known as|or simply"
"""Behind these stands another name of the same."""
IS_A = "is a|is an|is the|is our"
STORING = frozenset("stores store keeps saves persists caches writes".split())
"""These have their object before the place: "stores sessions in Redis"."""
CLAUSES = frozenset("which who owned maintained led written built developed created managed formerly".split())
"""With these begins what stands between a name and its verb."""
MOVING = frozenset("migrated moved switched renamed".split())
"""Behind these stands what was, and what is."""

VERBS: dict[tuple[str, ...], Verb] = {
    tuple(phrase.split()): verb for verb, phrases in _PHRASES.items() for phrase in phrases.split("|")
}
ALIASES = frozenset(tuple(phrase.split()) for phrase in ALIAS.split("|"))
IS_A_PHRASES = frozenset(tuple(phrase.split()) for phrase in IS_A.split("|"))
FIRST_WORDS = frozenset(phrase[0] for phrase in (*VERBS, *ALIASES, *IS_A_PHRASES))
"""With which any of these begins: other words are passed over at once."""
PLURAL_FORMS = frozenset(
    "depend rely require use work maintain own lead integrate connect talk belong are were contribute".split()
)
"""These need several names before them, or one of several; with one they are a request: "use pacman"."""
VALUES = frozenset(
    "string array object number int integer boolean bool function list stream url uri set callback label flag option "
    "value path map dict tuple member page method class type parameter argument field property".split()
)
"""What a word in code is said to be where it is a parameter, and no name."""
VERB_WORDS_MAX = max(len(each) for each in VERBS)
ENDING = {
    ("no", "longer", "depends", "on"): "DEPENDS_ON",
    ("no", "longer", "depend", "on"): "DEPENDS_ON",
    ("no", "longer", "relies", "on"): "DEPENDS_ON",
    ("no", "longer", "requires"): "DEPENDS_ON",
    ("no", "longer", "needs"): "DEPENDS_ON",
    ("no", "longer", "uses"): "USES",
    ("no", "longer", "calls"): "CALLS",
    ("no", "longer", "works", "on"): "WORKS_ON",
    ("no", "longer", "works", "in"): "WORKS_ON",
    ("no", "longer", "works", "for"): "WORKS_ON",
    ("no", "longer", "maintains"): "WORKS_ON",
    ("no", "longer", "owns"): "WORKS_ON",
    ("no", "longer", "leads"): "WORKS_ON",
    ("no", "longer", "integrates", "with"): "INTEGRATES_WITH",
    ("no", "longer", "talks", "to"): "INTEGRATES_WITH",
    ("no", "longer", "runs", "on"): "LOCATED_IN",
    ("no", "longer", "runs", "in"): "LOCATED_IN",
    ("no", "longer", "stores", "data", "in"): "STORES_IN",
    ("stopped", "using"): "USES",
    ("stopped", "depending", "on"): "DEPENDS_ON",
    ("stopped", "working", "on"): "WORKS_ON",
    ("left",): "WORKS_ON",
}
"""What ends a relation, and which."""
FIRST_WORDS_OF_ENDS = frozenset(phrase[0] for phrase in ENDING)
SAME_WHEN_ENDED = {"USES": ("DEPENDS_ON", "STORES_IN"), "DEPENDS_ON": ("USES",), "WORKS_ON": ("PART_OF",)}
"""What else holds no longer then: who depends on a thing uses it."""

KIND_NOUNS: dict[str, EntityType] = {
    **dict.fromkeys("service services microservice microservices daemon gateway api frontend".split(), "service"),
    **dict.fromkeys("backend app application worker scheduler".split(), "service"),
    **dict.fromkeys("team teams squad guild department group".split(), "team"),
    **dict.fromkeys("project projects repository repo".split(), "project"),
    **dict.fromkeys("library framework tool cli sdk plugin database queue cache broker bucket".split(), "tool"),
    **dict.fromkeys("package module".split(), "package"),
}
"""What stands behind a name and says what it is of."""
DROPPED_NOUNS = frozenset(
    "library framework tool database queue cache broker cluster server instance bucket package sdk project".split()
)
"""Of these, those that are no part of the name: "the Redis cache" is Redis."""

TOOLS = frozenset(
    "redis postgres postgresql mysql mariadb sqlite mongodb kafka rabbitmq nats elasticsearch opensearch cassandra "
    "dynamodb s3 memcached nginx envoy haproxy traefik docker podman kubernetes helm terraform ansible vault consul "
    "etcd prometheus grafana jaeger sentry datadog github gitlab jenkins circleci buildkite airflow celery sidekiq "
    "spark flink snowflake bigquery clickhouse minio zookeeper keycloak okta auth0 stripe twilio sendgrid slack jira "
    "python node.js nodejs typescript django flask fastapi rails react vue svelte angular pytest webpack vite".split()
)
"""Well-known programs: a tool, whichever way the name is written."""

ARTICLES = frozenset("the a an our their its his her this that these those both all each every".split())
ADJECTIVES = frozenset(
    "new old main current legacy internal external shared central existing same other following next whole entire own "
    "entire primary secondary default separate common own single only first second".split()
)
NO_NAMES = frozenset(
    "it this that these those he she they we you i who which what there here everything everyone nothing something "
    "someone anyone anything one ones it's below above each all some any both none many most more such same other "
    "another and or "
    "but if when while because so then however also note see please todo fixme warning as in on at by for from to of "
    "with without after before until since during between although though unless whether where why how not no yes "
    "is are was were be been being has have had do does did can could will would should may might must "
    "now today yesterday tomorrow currently previously formerly usually often always never the a an our their its "
    "his her my your let make run add remove use using used very just only still even than via per about into over "
    "under out up down off again once only too its".split()
)
"""Words that are no name, even where a sentence begins with one."""
PLACES = frozenset("region datacenter data-centre office zone rack".split())
MODALS = frozenset(
    "should could would might may can must will shall cannot can't won't shouldn't wouldn't couldn't to".split()
)
"""Before a verb: what is wished, possible or planned holds not."""
NEGATIONS = frozenset("not never don't doesn't didn't isn't aren't wasn't weren't hardly nor neither without".split())
CONDITIONS = frozenset(
    "if unless whether suppose assuming imagine when whenever does do did is are should could".split()
)
"""A sentence that begins with one of these says nothing that holds."""
STOPS = frozenset(
    "for to in on at by from with because which that who when where while so but as if since until via through during "
    "after before instead rather than whenever of is are was were has have does do can will must should would "
    "using not only then also now anymore directly indirectly".split()
)
"""Words at which a list of names ends."""
JOINS = frozenset("and or & plus".split())
