"""What a definition looks like, one pattern per language, known by a path's extension.

A pattern is tried at the start of a line and takes the defined name in its only participating group. Patterns never
backtrack over more than a line's few leading words: repeats are possessive or atomic, so that hostile text costs
linear time. They read shapes, not grammar: a rare false name in a long comment is accepted, a slow capture is not.

A pattern is compiled when its language is first met: all of them would cost a daemon's start 20 ms.
"""

from __future__ import annotations

import functools
import re

_GAP = r"[ \t]++"
_ANGLES = r"<(?:[^<>\n]++|<(?:[^<>\n]++|<[^<>\n]*+>)*+>)*+>"
_PARENS = r"\((?:[^()\n]++|\((?:[^()\n]++|\([^()\n]*+\))*+\))*+\)"


def _declaration(modifiers: str, keywords: str, name: str = r"(\w++)") -> str:
    """`modifiers… keyword name`."""
    return rf"(?:(?:{modifiers}){_GAP})*+(?:{keywords}){_GAP}{name}"


def _pattern(*shapes: str) -> str:
    return rf"^[ \t]*+(?:{'|'.join(shapes)})"


_compiled = functools.cache(functools.partial(re.compile, flags=re.MULTILINE))


_PYTHON = _pattern(
    rf"(?:async{_GAP})?+def{_GAP}(\w++)[ \t]*+[(\[]",
    rf"class{_GAP}(\w++)[ \t]*+[:(\[]",
    rf"type{_GAP}(\w++)[^=\n:]*+=",
)

_JS_NAME = r"([\w$]++)"
_JS_BRANCH = r"(?:if|for|while|switch|catch|with|function|return|do|else|new|typeof|await|super)\b"
_JS_FUNCTION = (
    r"(?:async\b[ \t]*+)?+(?:function\b|class\b|[\w$]++[ \t]*+=>"
    rf"|(?:{_ANGLES})?+(?:{_PARENS}(?:[ \t]*+:[^=\n]++)?+[ \t]*+=>"
    r"|\((?:[ \t]*+\n[ \t]*+)?+(?:\.\.\.|[{\[][^)\n]*+\n|[\w$]++\??+[ \t]*+[:,][^)\n]*+\n)))"
)
_JS_MEMBER = r"(?:public|private|protected|static|readonly|override|abstract|async|get|set)"
_JAVASCRIPT = _pattern(
    _declaration("export|default|declare|abstract|async", r"class|interface|(?:const[ \t]++)?+enum", _JS_NAME),
    rf"(?:(?:export|default|declare|async){_GAP})*+function[ \t]*+\*?+[ \t]*+{_JS_NAME}",
    rf"(?:(?:export|declare){_GAP})*+type{_GAP}{_JS_NAME}[ \t]*+(?:{_ANGLES}|<[^=\n]*+)?+[ \t]*+=",
    rf"(?:export{_GAP})?+(?:const|let|var){_GAP}{_JS_NAME}(?:[ \t]*+:(?:[^=\n]|=>)++)?+[ \t]*+="
    rf"[ \t]*+(?:(?:React\.)?+(?:memo|forwardRef)(?:{_ANGLES})?+\()?+{_JS_FUNCTION}",
    rf"(?:{_JS_MEMBER}{_GAP})*+(?:[\w$]++\.)*+#?+{_JS_NAME}[ \t]*+(?::|(?::[^=\n]++)?+=)[ \t]*+{_JS_FUNCTION}",
    rf"(?!{_JS_BRANCH})(?:{_JS_MEMBER}{_GAP})*+\*?+#?+{_JS_NAME}[ \t]*+(?:{_ANGLES})?+{_PARENS}"
    rf"[ \t]*+(?::[ \t]*+(?:\{{[^{{}}\n]*+\}})?+(?:{_ANGLES}|[^<{{;=\n])*+)?+\{{",
    rf"(?:{_JS_MEMBER}{_GAP})++#?+{_JS_NAME}[ \t]*+(?:{_ANGLES})?+\([^()\n]*+$",
    r"(constructor)[ \t]*+\(",
)

_GO = _pattern(
    rf"func{_GAP}(?:\([^)\n]*+\)[ \t]*+)?+(\w++)",
    rf"type{_GAP}(\w++)",
    rf"(\w++){_GAP}(?:struct|interface)[ \t]*+\{{",
)

_RUST = _pattern(
    _declaration(
        r'pub(?:\([^)\n]*+\))?+|default|const|async|unsafe|extern(?:[ \t]++"[^"\n]*+")?+',
        "fn|struct|enum|trait|union|type|macro_rules!",
    ),
    rf"(?:unsafe{_GAP})?+impl(?:{_ANGLES})?+{_GAP}(?:!?+(?:\w++::)*+\w++(?:{_ANGLES})?+{_GAP}for{_GAP})?+"
    r"&?+(?:\w++::)*+(\w++)",
)

_C_TYPES = rf"(?:{_ANGLES}|[A-Za-z_](?:[\w:.,?*&\[\]~]++|<[^<>\n]*+>|<|>)*+)[ \t]++"
_C_STATEMENT = (
    r"(?:return|else|if|for|while|switch|case|do|new|delete|throw|goto|using|typedef|co_await|co_return|await|yield"
    r"|assert|in|is|not|and|or|package|import|namespace|lock|foreach|catch|try|var)\b"
)
_OPENS_BODY = r"[^;{\n]*+(?:\{|(?<=[,(])\n|\n[ \t]*+\{)"
_OPENS_BODY_OR_DECLARES = r"[^;{\n]*+(?:[;{]|(?<=[,(])\n|\n[ \t]*+\{)"


def _typed_method(tail: str) -> str:
    """`type… name(`: at least one word before the name, and a body or a parameter list that goes on."""
    return (
        rf"(?!{_C_STATEMENT})(?:{_C_TYPES}){{1,12}}?[*&]{{0,3}}+(?:\w++::)*+(?!{_C_STATEMENT})(~?+\w++)[ \t]*+\({tail}"
    )


_C = _pattern(
    rf"(?:template[ \t]*+{_ANGLES}[ \t]*+)?+(?:typedef{_GAP})?+(?:enum{_GAP}(?:class|struct)|class|struct|union|enum)"
    rf"{_GAP}(?:\w+(?:\([^)\n]*+\))?+[ \t]++)??(\w++)[ \t]*+(?:final[ \t]*+)?+"
    r"(?::[^:;\n][^;\n]*+|\{[^\n]*+|)(?:\n|\Z)",
    rf"using{_GAP}(\w++)[ \t]*+=",
    r"\}[ \t]*+(\w++)[ \t]*+;",
    rf"(?:\w++(?:{_ANGLES})?+::)++(~?+\w++)[ \t]*+\({_OPENS_BODY}",
    _typed_method(_OPENS_BODY),
    rf"(?!{_C_STATEMENT})(\w++)[ \t]*+\([^;{{\n]*+\n\{{",  # its type stands on the line above
)

_JAVA = _pattern(
    _declaration(
        "public|private|protected|internal|static|final|abstract|sealed|non-sealed|strictfp|partial|readonly|ref|unsafe|new",
        r"class|@?+interface|enum|struct|record(?:[ \t]++(?:class|struct))?+|mixin",
    ),
    _typed_method(_OPENS_BODY_OR_DECLARES),
)

_RUBY = _pattern(
    rf"(?:(?:private|protected|public|module_function|private_class_method){_GAP})?+def{_GAP}"
    r"(?:self\.|\w++\.)?+(\w++[?!=]?+)",
    rf"(?:class|module){_GAP}(?!<<)(?:\w++::)*+(\w++)",
)

_PHP = _pattern(
    _declaration("abstract|final|readonly", "class|interface|trait|enum"),
    rf"(?:(?:public|private|protected|static|abstract|final){_GAP})*+function{_GAP}&?+(\w++)[ \t]*+\(",
)

_KOTLIN = _pattern(
    _declaration(
        r"public|private|protected|internal|open|abstract|final|sealed|data|inner|value|inline|enum|annotation|override"
        r"|suspend|operator|infix|tailrec|external|expect|actual|companion|fun(?=[ \t]++interface)",
        "class|interface|object|typealias",
    ),
    rf"(?:(?:public|private|protected|internal|open|abstract|final|override|suspend|inline|operator|infix|tailrec){_GAP})*+"
    rf"fun{_GAP}(?:{_ANGLES}[ \t]*+)?+(?:\w++(?:{_ANGLES})?+\??+\.)*+(\w++)[ \t]*+\(",
)

_SWIFT = _pattern(
    _declaration(
        r"public|private|fileprivate|internal|open|final|static|class|override|mutating|indirect|@\w++(?:\([^)\n]*+\))?+",
        "func|struct|enum|protocol|extension|actor|typealias|class",
    ),
    _declaration("public|private|fileprivate|internal|open|final", "class"),
)

_SCALA = _pattern(
    _declaration(
        r"private(?:\[\w++\])?+|protected|override|final|sealed|abstract|implicit|lazy|case|inline|given|open",
        "def|class|object|trait|enum|type",
    )
)

_SHELL = _pattern(rf"function{_GAP}([\w:.-]++)", r"([\w:.-]++)[ \t]*+\(\)[ \t]*+(?:\{|\(|\n|\Z)")
_LUA = _pattern(rf"(?:local{_GAP})?+function{_GAP}(?:\w++[.:])*+(\w++)")
_ELIXIR = _pattern(rf"def(?:p|macro|macrop)?+{_GAP}(\w++[?!]?+)", rf"def(?:module|protocol){_GAP}([\w.]++)")

_PATTERNS = {
    extension: pattern
    for extensions, pattern in (
        (("py", "pyi", "pyx"), _PYTHON),
        (("js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte", "astro"), _JAVASCRIPT),
        (("go",), _GO),
        (("rs",), _RUST),
        (("c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "cu", "m", "mm", "ino"), _C),
        (("java", "cs", "dart", "groovy"), _JAVA),
        (("rb", "rake"), _RUBY),
        (("php",), _PHP),
        (("kt", "kts"), _KOTLIN),
        (("swift",), _SWIFT),
        (("scala", "sc"), _SCALA),
        (("sh", "bash", "zsh", "bats"), _SHELL),
        (("lua",), _LUA),
        (("ex", "exs"), _ELIXIR),
    )
    for extension in extensions
}


def find_pattern(path: object) -> re.Pattern[str] | None:
    """Return the pattern for a path's language, or None when its extension is no code we know."""
    if not isinstance(path, str):
        return None
    _, dot, extension = path[-16:].rpartition(".")
    pattern = _PATTERNS.get(extension.lower()) if dot else None
    return None if pattern is None else _compiled(pattern)
