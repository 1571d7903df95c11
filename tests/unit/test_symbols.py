"""Names of definitions in what agents write."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from siftd.symbols import SYMBOLS_MAX, symbols_of

SOURCES = {
    "a.py": (
        "class Store(Base):\n"
        "    async def get(self): ...\n"
        "    def __init__(self):\n"
        "        pass\n"
        "def top(\n"
        "    a,\n"
        "): ...\n"
        "type Pair = tuple[int, int]\n"
        "typed = 1\n"
        "# def no(): ...\n"
        "'''class of its own'''\n",
        "Pair Store __init__ get top",
    ),
    "a.ts": (
        "export default class Auth extends Base<X> {\n"
        "  private readonly a = 1;\n"
        "  constructor(private x: X) {\n"
        "  }\n"
        "  async login(user: User, opts: { a: string }): Promise<void> {\n"
        "    if (x) {\n"
        "    }\n"
        "    for (const a of b) {\n"
        "    return load(a) {\n"
        "    doIt(() => {\n"
        "  }\n"
        "  static get size(): number { return 1; }\n"
        "  handle = async (e: Event) => {\n"
        "  };\n"
        "  private async many(\n"
        "    a: string,\n"
        "  ) {\n"
        "}\n"
        "export interface Shape<T> {\n"
        "}\n"
        "export type Id = string;\n"
        "type Of<T extends object> = T;\n"
        "export const enum Color { Red }\n"
        "declare enum Old {}\n"
        "export async function* walk() {\n",
        "Auth Color Id Of Old Shape constructor handle login many size walk",
    ),
    "a.jsx": (
        "const plain = 3;\n"
        "export const add = (a, b) => a + b;\n"
        "const one = x => x;\n"
        "let f: (a: A) => B = (a) => b;\n"
        "const Card = React.memo(({ title }) => {\n"
        "const Form = ({\n"
        "  a,\n"
        "}) => {\n"
        "const sum = (a + b);\n"
        "const total = (\n"
        "  a + b\n"
        ");\n"
        "var old = function () {\n"
        "exports.run = async function () {\n"
        "const list = items.map((i) => i);\n"
        "const view = (\n"
        "  <div>\n",
        "Card Form add f old one run",
    ),
    "a.go": (
        "package a\n"
        "func main() {\n"
        "}\n"
        "func (s *Server) Serve(ctx context.Context) error {\n"
        "func Map[T any](a []T) {\n"
        "type Server struct {\n"
        "}\n"
        "type ID = string\n"
        "type (\n"
        "	Reader interface {\n",
        "ID Map Reader Serve Server main",
    ),
    "a.rs": (
        "pub(crate) async fn run<T: Into<String>>(t: T) {}\n"
        'unsafe extern "C" fn raw() {}\n'
        "pub struct Config {\n"
        "enum Kind { A }\n"
        "impl<T: Fn<U>> Display for Config<T> {\n"
        "impl Parser {\n"
        "pub trait Named {}\n"
        "macro_rules! vecs {\n"
        "type Alias = u8;\n"
        "let fnord = 1;\n",
        "Alias Config Kind Named Parser raw run vecs",
    ),
    "a.java": (
        "@Service\n"
        "public final class UserService implements A {\n"
        "  public UserService(Repo r) {\n"
        "  }\n"
        "  public static <T> List<Map<String, T>> load(int a, String b) throws X {\n"
        "    return find(a);\n"
        "    String s = make(a);\n"
        "    if (a) {\n"
        "    } else if (b) {\n"
        "    new Thread(x) {\n"
        "    call(a);\n"
        "  }\n"
        "  Optional<User> findById(Long id);\n"
        "}\n"
        "record Point(int x, int y) {}\n"
        "@interface Marked {}\n"
        "enum Level {\n",
        "Level Marked Point UserService findById load",
    ),
    "a.cs": (
        "namespace A;\n"
        "public sealed record struct Money(int A);\n"
        "internal static class Tools\n"
        "{\n"
        "    public async Task<int> RunAsync(string a)\n"
        "    {\n"
        "        await Go(a);\n"
        "        var x = Make(a);\n"
        "    }\n"
        "    private int Twice(int a) => a * 2;\n"
        "}\n"
        "public interface IStore {\n",
        "IStore Money RunAsync Tools Twice",
    ),
    "a.cpp": (
        "#include <a>\n"
        "struct forward;\n"
        "class EXPORT Engine final : public Base {\n"
        " public:\n"
        "  explicit Engine(int a) {}\n"
        "  std::map<std::string, int> index() const {\n"
        "    return build(a);\n"
        "    int x = f(1);\n"
        "    call(a,\n"
        "         b);\n"
        "  }\n"
        "};\n"
        "static inline int add(int a, int b)\n"
        "{\n"
        "void Engine::start(int a) {\n"
        "Engine::Engine(int a)\n"
        "    : a_(a) {\n"
        "int prototype(int a);\n"
        "enum class Mode { A };\n"
        "template <typename T>\n"
        "T biggest(T a, T b) {\n"
        "using Ids = std::vector<int>;\n"
        "typedef struct {\n"
        "  int a;\n"
        "} Pair;\n"
        "unsigned long *many(int a,\n",
        "Engine Ids Mode Pair add biggest index many start",
    ),
    "a.rb": (
        "module Admin\n"
        "  class Users < Base\n"
        "    def self.find!(id)\n"
        "    def empty?\n"
        "    class << self\n"
        "    private def x\n",
        "Admin Users empty? find! x",
    ),
    "a.php": (
        "<?php\n"
        "abstract class Model {\n"
        "  public static function &find($id) {\n"
        "  $f = function () {};\n"
        "interface HasName {}\n"
        "trait Sings {}\n"
        "function helper() {}\n",
        "HasName Model Sings find helper",
    ),
    "a.kt": (
        "data class User(val a: Int)\n"
        "fun interface Click\n"
        "companion object Factory {\n"
        "suspend fun <T> List<T>.second(): T {\n"
        "  override fun run() = 1\n",
        "Click Factory User run second",
    ),
    "a.swift": (
        "public struct V: View {\n  static func make(a: Int) {}\nextension Int {}\nfinal class A {}\n",
        "A Int V make",
    ),
    "a.scala": (
        "case class P(a: Int)\nobject Main {\n  private def go[A](a: A) = 1\n",
        "Main P go",
    ),
    "a.sh": (
        "build() {\nfunction deploy {\n  echo done\nrun_it ()\n{\n",
        "build deploy run_it",
    ),
    "a.lua": (
        "local function a()\nfunction M.b:c()\n",
        "a c",
    ),
    "a.ex": (
        "defmodule App.Web do\n  defp ok?(a), do: a\n",
        "App.Web ok?",
    ),
}
"""What is written, and the names it defines."""


def write(path: str, content: object, response: object = None) -> dict[str, Any]:
    return {"tool_input": {"file_path": path, "content": content}, "tool_response": response}


@pytest.mark.parametrize("path", SOURCES)
def test_definitions_are_found_and_nothing_else(path: str) -> None:
    text, names = SOURCES[path]
    assert symbols_of("Write", write("/p/" + path, text)) == names.split()


@pytest.mark.parametrize("path", SOURCES)
def test_line_ends_of_windows_change_nothing(path: str) -> None:
    text, names = SOURCES[path]
    assert symbols_of("Write", write(path, text.replace("\n", "\r\n"))) == names.split()


ORIGINAL = """import time


class Vault:
    \"\"\"Keeps.\"\"\"

    limit = 3

    def open(
        self,
        key,
    ):
        if key:
            return 1
# a remark at the margin
        return 2

    def close(self):
        pass


if time:
    run()
"""


def edit(old_start: int, lines: list[str], original: str | None = ORIGINAL, **tool_input: object) -> dict[str, Any]:
    hunk = {"oldStart": old_start, "oldLines": 1, "newStart": old_start, "newLines": 1, "lines": lines}
    return {
        "tool_input": {"file_path": "/p/vault.py", "old_string": "x", "new_string": "y", **tool_input},
        "tool_response": {"originalFile": original, "structuredPatch": [hunk]},
    }


@pytest.mark.parametrize(
    ("old_start", "lines", "names"),
    [
        (14, ["-            return 1", "+            return 9"], ["open"]),
        (16, ["-        return 2", "+        return 3"], ["open"]),
        (11, ["-        key,", "+        key2,"], ["open"]),
        (7, ["-    limit = 3", "+    limit = 4"], ["Vault"]),
        (19, ["-        pass", "+        stop()"], ["close"]),
        (23, ["-    run()", "+    walk()"], []),
        (1, ["-import time", "+import os"], []),
        (17, [" ", "+    def peek(self):", "+        return 0", "+"], ["Vault"]),
        (
            13,
            ["-            return 1", "+            return 9", " # a", "-        return 2", "+        return 3"],
            ["open"],
        ),
        (19, ["-        pass", "+        stop()", " ", " ", "-if time:", "+if now:"], ["close"]),
    ],
)
def test_the_definition_around_each_change_is_named(old_start: int, lines: list[str], names: list[str]) -> None:
    assert symbols_of("Edit", edit(old_start, lines)) == names


def test_without_the_original_file_the_hunks_own_lines_tell() -> None:
    lines = [" def close(self):", "-    pass", "+    stop()"]
    assert symbols_of("Edit", edit(17, lines, original=None)) == ["close"]


def test_a_line_number_beyond_the_original_file_is_not_guessed_at() -> None:
    assert symbols_of("Edit", edit(4000, ["-    pass", "+    stop()"])) == []


def test_braces_and_labels_at_the_margin_do_not_end_a_definition() -> None:
    original = (
        "int first(void)\n{\n\treturn 0;\n}\n\nstatic int\nsecond(int a, int b)\n{\n\tgo();\nout:\n#if X\n\tstop();\n"
    )
    payload = edit(12, ["-\tstop();", "+\thalt();"], original, file_path="a.c")
    assert symbols_of("Edit", payload) == ["second"]
    payload = edit(3, ["-\treturn 0;", "+\treturn 1;"], original, file_path="a.c")
    assert symbols_of("Edit", payload) == ["first"]


def test_without_a_response_the_new_text_alone_decides() -> None:
    tool_input = {"file_path": "a.go", "old_string": "func Old() {", "new_string": "func New() {"}
    for response in (None, "The file was updated", ["odd"], {}):
        assert symbols_of("Edit", {"tool_input": tool_input, "tool_response": response}) == ["New"]
    assert symbols_of("Edit", {"tool_input": tool_input}) == ["New"]


def test_every_edit_of_a_multi_edit_counts() -> None:
    edits = [{"new_string": "def b(): ..."}, {"new_string": "def a(): ..."}, {"new_string": None}]
    assert symbols_of("MultiEdit", {"tool_input": {"file_path": "a.py", "edits": edits}}) == ["a", "b"]


def test_a_notebook_cell_is_read_as_python_unless_it_is_prose() -> None:
    cell = {"notebook_path": "a.ipynb", "new_source": "def f():\n    ..."}
    assert symbols_of("NotebookEdit", {"tool_input": cell}) == ["f"]
    assert symbols_of("NotebookEdit", {"tool_input": {**cell, "cell_type": "markdown"}}) == []


PATCH = """*** Begin Patch
*** Add File: new.py
+def fresh():
+    return 1
*** Update File: old.ts
*** Move to: lib/store.ts
@@ class Store
@@   load(id: string) {
-    return 1;
+    return 2;
@@
 export function save() {
-  a();
+  b();
 }
 function untouched() {
*** Delete File: gone.py
*** Update File: notes.md
@@ def prose():
-a
+def prose():
*** End of File
*** End Patch
"""


def test_a_patch_names_what_it_adds_and_what_it_changes() -> None:
    assert symbols_of("apply_patch", {"tool_input": {"command": PATCH}}) == ["fresh", "load", "save"]


@pytest.mark.parametrize("path", ["README.md", "data.json", "Makefile", "py", "", None, 7])
def test_a_path_without_a_code_extension_has_no_symbols(path: Any) -> None:
    assert symbols_of("Write", write(path, "def f(): ...")) == []


def test_another_tool_has_no_symbols() -> None:
    assert symbols_of("Read", write("a.py", "def f(): ...")) == []


def test_too_many_names_keep_those_around_changes_first() -> None:
    content = "".join(f"def f{number:03}(): ...\n" for number in range(100))
    payload = write("a.py", content, edit(19, ["-        pass", "+        x()"])["tool_response"])
    assert symbols_of("Write", payload) == sorted(["close", *(f"f{number:03}" for number in range(SYMBOLS_MAX - 1))])


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=20)
    | st.sampled_from(["a.py", "+x", "-x", " y", "@@ z", ""]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["file_path", "new_string", "content", "edits", "originalFile", "structuredPatch", "lines"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=20,
)


@pytest.mark.slow
@settings(max_examples=100)
@given(st.sampled_from(["Edit", "Write", "MultiEdit", "NotebookEdit", "apply_patch", "Bash"]), JSON, JSON, JSON)
def test_odd_shapes_never_raise(tool: str, tool_input: Any, response: Any, hunk: Any) -> None:
    symbols_of(tool, {"tool_input": tool_input, "tool_response": response})
    written = {"file_path": "a.py", "command": hunk, "new_string": "", "edits": hunk, "new_source": hunk}
    told = {"originalFile": "def f():\n  x\n", "structuredPatch": [hunk, {"oldStart": 2, "lines": hunk}]}
    symbols_of(tool, {"tool_input": written, "tool_response": told})


HOSTILE = [
    "\n",
    " ",
    "a ",
    "(",
    "<",
    "public ",
    "a::",
    "int a ",
    "const a = (",
    "(a",
    "\n\t",
    "{\n",
    "async ",
    "a.",
    "[",
    "x:",
]


@pytest.mark.slow
@pytest.mark.parametrize("extension", ["py", "ts", "go", "rs", "cpp", "java", "rb", "php", "kt", "swift", "sh"])
def test_four_megabytes_of_hostile_text_cost_linear_time(extension: str) -> None:
    """0.1 s is usual for a whole megabyte; a pattern that backtracks takes hours."""
    for piece in HOSTILE:
        text = piece * (4_000_000 // len(piece))
        started = time.process_time()
        symbols_of("Write", write("a." + extension, text))
        assert time.process_time() - started < 3, piece


def test_a_patch_of_very_many_changes_costs_linear_time() -> None:
    lines = ["+        x", "         y"] * 20_000
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n" + "\n".join(lines)
    payload = edit(1, lines, original="        z\n" * 400_000)
    payload["tool_response"]["structuredPatch"] *= 500
    started = time.process_time()
    symbols_of("Edit", payload)
    symbols_of("apply_patch", {"tool_input": {"command": patch}})
    assert time.process_time() - started < 2
