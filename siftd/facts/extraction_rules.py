"""Forms in which people and agents say what holds: each a named pattern with what it makes of a sentence.

The first that matches counts. A rule for everybody's words is for a person's and an agent's; an agent's own closing
words report and plan far more than they state, so few forms of theirs are believed, and less.
"""

from __future__ import annotations

import re

import msgspec

from siftd.facts.model import Category


class Rule(msgspec.Struct, frozen=True):
    """A form of words."""

    name: str
    pattern: re.Pattern[str]
    category: Category
    confidence: float
    importance: int


def _rule(name: str, pattern: str, category: Category, confidence: float, importance: int) -> Rule:
    return Rule(name, re.compile(pattern, re.IGNORECASE), category, confidence, importance)


_LEAD = (
    r"^(?:(?:\(?\w{1,20}\)?[,:] |ok(?:ay)? |yes |yep |yeah |and |but |so |also |please |pls |then |hm+,? |bitte ){0,4})"
)
_VERB = (
    r"(?:use|run|write|put|add|keep|store|log|name|prefix|call|ask|commit|push|pull|rebase|squash|merge|branch|test"
    r"|check"
    r"|wrap|return|handle|close|create|document|format|lint|build|deploy|install|import|export|mock|edit|change"
    r"|touch|delete"
    r"|remove|force-push|sign|show|tell|start|start with|prefer|avoid|split|pin|validate|escape|update|read|include"
    r"|make"
    r"|do|set|open|follow|base|tag|bump|print|throw|catch|assume|guess|skip|hardcode|hard-code|expose|send|cache|load"
    r"|respond|reply|answer|explain|let|leave|mention|duplicate|repeat|copy|comment)"
)
_DO = (
    r"(?:use|using|build|deploy|ship|test|publish|release|store|keep|support|target|write|name|prefix|sign|squash"
    r"|rebase"
    r"|branch|cut|log|lint|format|generate|host|run|treat|rely on|depend on|cache|validate|version|tag|pin|avoid|never"
    r"|always|only|call)"
)
_TOOLISH = r"[\w./@+-]{2,40}"

PERSONS: tuple[Rule, ...] = (
    _rule(
        "a correction",
        r"^(?:no|nope|nah|wrong|actually|not quite|nein|falsch)[,:.!]? (?:please )?(?:we |we're on |wir |hier )?"
        r"(?:use|take|prefer|it'?s|that'?s|keep|nimm|nehmen|verwenden|verwende|benutze)\b.{3,}"
        rf"|^(?:no|nope|nein),? (?:not|nicht) {_TOOLISH}, .{{4,}}|^不是?,?(?:请)?用",
        "preference",
        0.9,
        4,
    ),
    _rule(
        "from now on",
        r"\b(?:from now on|going forward|from here on|in (?:the )?future,? (?:please|always|never|use|run|answer"
        r"|add|keep)"
        r"|as a rule|ab jetzt|ab sofort|künftig|in zukunft|grundsätzlich)\b(?! in (?:this|the))|^以后|今后",
        "convention",
        0.9,
        4,
    ),
    _rule(
        "asked to remember",
        r"^(?:please )?(?:remember|keep in mind|note|bear in mind|denk dran|merk dir) that\b.{10,}"
        r"|^(?:for the record|note|fyi|nb|merke)[:,] .{10,}",
        "fact",
        0.9,
        3,
    ),
    _rule(
        "a decision of theirs",
        r"\bwe(?:'ve| have)? (?:\w{1,10} )?(?:decided|agreed|settled|chose|chosen|opted|picked)\b.{6,}"
        r"|\bwe(?:'re| are) (?:going with|getting rid of|dropping|sticking with|staying with|moving to"
        r"|standardi[sz]ing on)\b"
        r"|\bwe (?:went with|moved|switched|migrated|replaced|dropped|standardi[sz]ed|no longer|stopped)\b .{4,}"
        r"|\bwe (?:do not|don'?t) (?:use|support|want|ship|allow)\b.{3,}"
        r"|\bwir (?:haben|sind)\b.{1,120}\b(?:entschieden|beschlossen|geeinigt|umgestiegen|ersetzt|abgeschafft)\b"
        r"|\blet'?s (?:use|go with|stick with|take|switch to|move to|keep)\b .{2,60}"
        r"(?: instead of | rather than |, not | and not | because | since ).{2,}"
        r"|\blet'?s (?:completely|entirely) (?:remove|drop)\b .{4,}"
        r"|\bthat'?s why we\b .{6,}|^我们决定|我们(?:已经)?(?:改用|换成)",
        "decision",
        0.85,
        4,
    ),
    _rule(
        "a preference",
        r"\bi(?:'d| would)? (?:much |really |generally |always |actually )?prefer\b(?! (?:if (?:you|we) (?:could"
        r"|can))).{4,}"
        r"|\bi'?d rather (?!not)\w.{6,}|\bi (?:do not|don'?t|dont|never) (?:want|like) (?!to\b|this|that|it"
        r"|you to)\w.{4,}"
        r"|\bi always want\b.{6,}|\bi (?:hate|dislike|love)\b (?!this|that|it|when you)\w.{4,}"
        r"|\bi like my\b.{4,}|\bi want (?:you to )?(?:always|never)\b.{6,}"
        r"|\bich (?:bevorzuge|möchte immer|will immer|mag keine|möchte keine|will keine|hasse)\b.{3,}"
        r"|^(?:please )?prefer \w.{4,}\b(?:over|to|instead of|rather than)\b.{3,}",
        "preference",
        0.85,
        4,
    ),
    _rule(
        "a rule",
        rf"{_LEAD}(?:(?:you|we|one) (?:must|should|shall|have to|need to) )?(?:always|never)(?: ever)? {_VERB}\b.{{4,}}"
        r"|^(?:never|always) (?!in this)[a-z]{3,20} (?!mind|the error).{6,}"
        rf"|\b(?:you|we) (?:must|should|can|may)(?: not|n'?t| never| always| only) (?:ever )?{_VERB}\b.{{6,}}"
        r"|\bwe (?:always|never|only) [a-z]{3,20}\b.{4,}"
        r"|\bmake sure (?:to |you |we )?(?:always|never)\b.{4,}"
        r"|\b(?:immer|nie|niemals) (?:zuerst |erst |direkt )?[\wäöüß]{3,}.{2,}\w(?:en|ern|eln)[.!]?$"
        r"|\b(?:dürfen|darf|sollen|soll) (?:\w{1,12} ){0,3}?(?:nie|niemals|nicht|keine)\b.{4,}"
        r"|\bbitte (?:keine|nie|niemals|immer)\b.{4,}|^keine (?:neuen )?\w{4,}.{6,}"
        r"|^(?:请)?(?:总是|永远不要|绝不|不要|务必|一律|必须)",
        "convention",
        0.85,
        4,
    ),
    _rule(
        "something not to be done",
        rf"{_LEAD}(?:do not|don'?t|dont|stop|avoid|no more)(?: ever| just)? (?:{_VERB}(?:ing)?|[a-z]{{3,15}}ing"
        rf"|fallback|push)\b"
        r"(?! (?:this|that|it|these|those|the|them|anything|yet|any of)\b).{6,}"
        rf"|{_LEAD}avoid (?!that|this|it\b|the\b)[a-z]{{4,20}} [a-z]{{2,20}}\b.{{3,}}"
        rf"|{_LEAD}no (?!need|idea|problem|worries|one|more|longer|that|this|it)[a-z]{{4,20}} (?:in|on|for"
        rf"|without) .{{3,}}"
        r"|\bit'?s better (?:not to|to never|not)\b.{6,}|\bit (?:doesn'?t|does not) make sense to \w+ (?:in|with"
        r"|without)\b.{4,}"
        r"|\blet'?s (?:not|never) (?:leave|put|use|add|store|commit|mix|rely)\b (?!this|that|it\b).{6,}"
        r"|\bwe explicitly (?:don'?t|do not)\b.{6,}",
        "convention",
        0.75,
        3,
    ),
    _rule(
        "a rule for each time",
        r"^(?:and |also |but )?(?:every|each|any|all|only|jeder|jede|jedes|alle|nur) (?:\w{1,20} ){0,4}"
        r"(?:must|should|needs?|has to|have to|have|are|is|get|gets|may|can|return|go|live|muss|müssen|soll|sollen"
        r"|brauch\w+)"
        r"\b(?! (?:failing|broken|red|green|there|you|we|i|that you|good|fine|right|ok)\b).{3,}"
        r"|^(?:and |also |please )?(?:before|after|when|whenever|for) (?:every|each|any|you|a"
        r"|all)\b.{3,60}, (?:please )?"
        rf"{_VERB}\b.{{3,}}|^(?:before|after) (?:every|each) \w{{3,20}} {_VERB}\b.{{3,}}"
        r"|\bwe should\b.{3,80}\b(?:any|all|every|each|always|wherever|whenever|never)\b.{2,}",
        "convention",
        0.8,
        3,
    ),
    _rule(
        "a constraint",
        r"^(?!this|that|it\b|he|she|you|i\b|there|they|we\b|these|those|the (?:function|method|button|test|parser"
        r"|second|first"
        r"|old|new|following)\b)(?:[\w`'./@+-]{1,30} ){1,6}(?:must|has to|have to|may not|must not|must never"
        r"|cannot|can'?t"
        r"|needs to|need to)(?: not| never| always| only| also)? "
        r"(?:stay|remain|be|have|answer|load|run|work|keep|support|not|never|go|come|start|end|use|contain|leave"
        r"|exceed|fit)\b"
        r".{2,}|\bdie \w{3,30} muss\b.{6,}|\b(?:is|are) (?:only|not|never|no longer) (?:supported|allowed|permitted)\b"
        r"|\bonly (?:\w{1,20} ){1,6}(?:is|are) (?:supported|allowed)\b|\bshould not be (?:\w{3,20}) ever\b"
        r"|\bshould (?:never|always|only) be\b.{3,}|\bmust be (?:controlled|configurable|signed|kept)\b.{3,}"
        r"|\b(?:does not|doesn'?t|do not|don'?t) support\b.{4,}|\boverriding directive\b.{6,}"
        r"|\bkeep(?:ing)? backwards? compatib.{6,}",
        "constraint",
        0.75,
        4,
    ),
    _rule(
        "how things are here",
        rf"^(?:\w{{1,12}},? )?(?:we|wir) {_DO}\b(?! (?:to|it|this|that)\b).{{3,}}|\bwe use\b .{{3,}}(?: for |, not "
        rf"| and not | to )"
        r".{3,}|^(?:and |but |so )?(?:our|unser|unsere) (?:[\w-]{1,25} ){1,4}(?:is|are|lives?|runs?|has|have|ist"
        r"|sind|läuft|liegt)"
        r"\b(?! (?:down|broken|failing|red|wrong|slow)).{3,}"
        r"|\b(?:runs?|listens?|lives?|läuft|hört)\b (?:\w{1,20} ){0,4}(?:on|at|in|behind"
        r"|auf) (?:[Pp]ort )?\S{2,}.{0,80}"
        r"|\b(?:wir) (?:verwenden|nehmen|nutzen|benutzen|unterstützen|bauen|deployen)\b.{3,}"
        r"|\b(?:the default|the source of truth|the stable)\b.{2,40}\bis\b.{3,}"
        r"|\b(?:is|are|should be) the (?:source of truth|stable \w+|default)\b"
        r"|^(?:我们)(?:使用|用|采用|部署|不用|不使用)"
        r"|\b(?:is|are) (?:stored|published|built|deployed|cut|released|generated|kept|run|written) (?:by|with|in"
        r"|from|as)\b.{3,}"
        r"|^(?:the )?tests (?:for|of|live)\b.{4,}\b(?:live|are|is)\b.{3,}|\bconvention is\b.{3,}",
        "architecture",
        0.75,
        3,
    ),
    _rule(
        "who somebody is",
        r"\bmy (?:github|gitlab|git|linear|jira|slack|npm)? ?(?:user(?:name)?|handle|account|login|time ?zone"
        r"|initials) (?:is|are)"
        r"\b.{2,}",
        "context",
        0.9,
        3,
    ),
    _rule(
        "how to write",
        r"^(?:and |also |but |ok,? )?(?:please )?use (?:the )?(?:\w{2,20} spelling|prefix|tabs|spaces"
        r"|\w{2,20} case)\b.{0,80}"
        r"|\bkeep (?:our|all|the) (?:\w{2,20} ){0,2}(?:documentation|docs|notes|messages?) (?:\w{1,12} ){0,2}in\b.{3,}"
        r"|\blet'?s use \S{2,20} and not \S{2,20}.{3,}",
        "convention",
        0.7,
        3,
    ),
)

AGENTS: tuple[Rule, ...] = (
    _rule(
        "a decision with its reason",
        r"\b(?:we|i)(?:'ve| have)? (?:decided|chose|opted|agreed)\b (?!a\b).{6,160}\b(?:because|since|instead of"
        r"|rather than|as it)\b"
        r".{6,}|^(?:went|going|stuck|we went) with\b.{3,120}\b(?:because|since|instead of|rather than|over)\b.{4,}"
        r"|^we use\b.{3,100}\b(?:because|rather than|instead of)\b.{4,}"
        r"|\bwir haben uns (?:für|gegen)\b.{3,100}\bentschieden\b.{0,120}",
        "decision",
        0.7,
        3,
    ),
    _rule(
        "a limit that stays",
        r"^(?:this is a )?known limitation[:,]? .{8,}|\bknown limitation: .{8,}"
        r"|^(?!this|that|it\b|i\b|we\b|the (?:test|function|method|code|branch|file|fix|change"
        r"|error)\b)(?:[\w`'./-]{1,30} ){1,6}"
        r"(?:does not|doesn'?t|do not|don'?t) (?:support|respect|allow|honou?r)\b.{4,}"
        r"|^(?!this|that|it\b)(?:[\w`'./-]{1,30} ){1,6}always gets? an?\b.{4,}",
        "constraint",
        0.6,
        3,
    ),
    _rule(
        "a rule that it states",
        r"^(?!this|that|it\b|i\b|tests?\b|the (?:test|function|method|fix"
        r"|error)\b)(?:[\w`'./-]{1,30} ){1,6}must (?:not|never)\b.{6,}"
        r"|^(?:never|always) (?:edit|run|use|push|commit|store|log|write)\b.{8,}",
        "convention",
        0.55,
        3,
    ),
)
