#!/usr/bin/env python3
"""Type-checks documented expressions, with a limit on the work of the type checker.

Checks every expression in the table of dialects in docs/query-language.md, a condition of eight terms in each form of a fetch, and the program of the README.
The limit is a number of solver scopes, which does not depend on the speed or the load of the machine: an expression of 5,000 scopes takes some 100 ms.

Usage: Tests/TypeChecking/check.py [SCOPES]      after `swift build`; a lower limit shows the most expensive expressions.
"""
import os
import re
import subprocess
import sys
import tempfile

SCOPES = sys.argv[1] if len(sys.argv) > 1 else "5000"
MODULES = ".build/debug/Modules"
# The limits for conditions by columns of a number of terms.
COLUMN_SCOPES = {2: "40", 5: "90", 10: "170", 20: "320"}
# The limit for the same terms as lines, of which each is checked alone.
LINE_SCOPES = "220"

MODEL = """
import Foundation
import PolyStore

@Model final class Department {
    var title: String = ""
    @Relationship(inverse: "department") var people: Set<Person>
}

@Model final class Person {
    var name: String = ""
    var nickname: String?
    var age: Int = 0
    var height: Double = 0
    var isActive: Bool = false
    var born: Date?
    var rank: Int8 = 0
    @Relationship(inverse: "people") var department: Department?
    @Relationship(inverse: "friends") var friends: Set<Person>
}

let ids: [ObjectID<Department>] = []
"""

LONG = '\\.age == 1 && \\.name == "x" && \\.height > 1.5 && \\.isActive == true && \\.nickname != nil && \\.rank < 3 && \\.born != nil && \\.age != 7'


def documented():
    """Returns the expressions in the table of dialects. An expression with an ellipsis represents several."""
    text = open("docs/query-language.md").read()
    table = text.split("## Dialects")[1].split("##")[0]
    rows = [line for line in table.split("\n") if line.startswith("| ")]
    found = [code for row in rows for code in re.findall(r"`([^`]+)`", row) if "…" not in code]
    return [code for code in found if re.search(r"[(=<>]", code)]


def program():
    expressions = documented()
    if len(expressions) < 20:
        sys.exit(f"type checking: only {len(expressions)} expressions found in docs/query-language.md")
    lines = [MODEL]
    for number, code in enumerate(expressions):
        lines.append(f"func documented{number}() {{ let _: Where<Person> = {code} }}")
        clause = code if code.startswith("Where") else f"Where({code})"
        lines.append(f"func fetched{number}(_ c: Context) throws {{ _ = try c.fetchAll(From<Person>(), {clause}) }}")
    order = "OrderBy(.ascending(\\.name), .descending(\\.age))"
    tweak = "Tweak { $0.limit = 20; $0.offset = 40 }"
    for number, call in enumerate(
        [
            f"c.fetchAll(From<Person>(), Where({LONG}))",
            f"c.fetchAll(From<Person>(), Where({LONG}), {order}, {tweak})",
            f"c.fetchAll(From<Person>().where({LONG}).orderBy(.ascending(\\.name)).limit(20))",
            f"c.fetchOne(From<Person>(), Where({LONG}), {order})",
            f"c.fetchCount(From<Person>(), Where({LONG}))",
            f'c.queryValue(From<Person>(), Select<Int>("age"), Where({LONG}), {order})',
            f'c.queryAttributes(From<Person>(), Select("age", .count("age", as: "people")), Where({LONG}), GroupBy("age"), Having("people > 1"), {tweak})',
        ]
    ):
        lines.append(f"func long{number}(_ c: Context) throws {{ _ = try {call} }}")
    lines.append(f"func long(_ t: Transaction) throws {{ try t.deleteAll(From<Person>(), Where({LONG})) }}")
    lines.append(f"func batch(_ t: Transaction) throws {{ try t.batchUpdate(From<Person>(), Where({LONG})) {{ $0.set(\\.age, to: 1) }} }}")
    return "\n".join(lines) + "\n", len(expressions)


TERMS = [
    "$0.age == 1", '$0.name == "x"', "$0.height > 1.5", "$0.isActive == true", "$0.nickname != nil", "$0.rank < 3", "$0.born > now", "$0.age != 7",
    '$0.department.title == "R"', "$0.friends.count > 3",
]


# Mistakes in closures of columns, with a part of the compiler's message: the property, or one of the two types. The last ones, without a part, have messages
# that name neither.
MISTAKES = [
    ("$0.agee > 30", "'agee'"), ('$0.department.titel == "R"', "'titel'"), (".orderBy { $0.nmae }", "'nmae'"),
    (".select { ($0.nmae, $0.age) }", "'nmae'"), ("$0.friends.agee.average > 3", "'agee'"), ('$0.age > "30"', "Column<String?>"),
    ("$0.name == 3", "Column<Int?>"), ("$0.age == 1.5", "Column<Double?>"), ("$0.age == nil", "'Int'"), ('$0.born > "2020-01-01"', "'Date'"),
    ("$0.isActive == 1", "Column<Bool>"), ("$0.age == $0.name", "Column<String>"), ("$0.age > $0.rank", "Column<Int8>"),
    ('$0.department == "Research"', "Column<Department?>"), ("$0.department == somebody", "'Person'"),
    ("$0.department == somebody.objectID", "ObjectID<Person>"), ("$0.name.contains(3)", "'Int'"), ('$0.age.isIn(["a", "b"])', "'Int'"),
    ('$0.age.isIn("a"..."b")', "'Int'"), ('$0.department.any { $0.title == "R" }', "'Department?'"),
    ("$0.friends > 3", "Column<Set<Person>>"), ("$0.friends.name.sum == 3", "'String'"), ("$0.age", "Column<Bool>"),
    ("$0.kind == .nothing", "Column<Kind>"), (".select { $0.name.average }", "'String'"), (".orderBy { $0.department.descending }", "'Department'"),
    ("!$0.age", "Column<Bool>"), ("$0.age = 3", "Column<Int>"), ('$0.friends.age.sum > "3"', "Column<String?>"),
    ("$0.friends.age > 3", "compare an aggregate"), ("$0.friends.any { $0.agee > 18 }", "'agee'"), ('$0.age.contains("3")', "Column<Int>"),
    ("$0.name.any { $0.age > 3 }", "'String'"), ('$0.age + "1" > 3', ""), ('\\.age > 30 && $0.name == "x"', ""),
]


def public_model():
    """Returns the models as public ones, so that the work of checking the code of their macros is not counted."""
    text = MODEL.replace("final class", "public final class").replace("    var ", "    public var ").replace(") var ", ") public var ")
    text = text.replace("    public var rank: Int8 = 0", "    public var rank: Int8 = 0\n    public var kind: Kind = Kind.open")
    return text.replace("let ids", 'public enum Kind: String { case open = "o", closed = "c" }\npublic let ids')


def conditions(count):
    """Returns conditions by columns in one expression, and as lines."""
    terms = (2 * TERMS)[:count]
    heading = "import Foundation\nimport PolyStore\nimport CheckedModels\nlet now = Date()\n"
    one = f"func all() {{ _ = From<Person>().where {{ {' && '.join(terms)} }} }}\nfunc any() {{ _ = From<Person>().where {{ {' || '.join(terms)} }} }}\n"
    lines = "func lines() { _ = From<Person>().where {\n" + "\n".join(terms) + "\n} }\n"
    return heading + one, heading + lines


def mistaken(code):
    call = code if code.startswith(".") else f'.where {{\n$0.name == "x"\n{code}\n$0.height > 1.5\n}}'
    return f"import Foundation\nimport PolyStore\nimport CheckedModels\nfunc check(_ somebody: Person) {{ _ = From<Person>(){call} }}\n"


def command(folder, *arguments):
    maps = [os.path.join(folder, name) for folder, _, names in os.walk(".") if "/.build" not in folder for name in names if name == "module.modulemap"]
    line = ["swiftc", "-swift-version", "6", "-I", MODULES, "-I", folder]
    line += [flag for name in maps for flag in ("-Xcc", f"-fmodule-map-file={name}")]
    line += ["-load-plugin-executable", ".build/debug/PolyStoreMacros-tool#PolyStoreMacros", *arguments]
    return subprocess.run(line, capture_output=True, text=True)


def check(path, scopes=SCOPES, folder="."):
    result = command(folder, "-typecheck", "-Xfrontend", f"-solver-scope-threshold={scopes}", path)
    if result.returncode != 0:
        sys.exit(f"type checking: FAILED with a limit of {scopes} scopes\n{result.stdout}{result.stderr}")


def check_columns(folder):
    """Checks closures of columns with the limits, and the messages of mistakes in them."""

    def written(text):
        path = os.path.join(folder, "columns.swift")
        with open(path, "w") as file:
            file.write(text)
        return path

    result = command(
        folder, "-emit-module", "-module-name", "CheckedModels", "-emit-module-path", os.path.join(folder, "CheckedModels.swiftmodule"),
        written(public_model()))
    if result.returncode != 0:
        sys.exit(f"type checking: FAILED\n{result.stderr}")
    for count, limit in COLUMN_SCOPES.items():
        one, lines = conditions(count)
        check(written(one), limit, folder)
        check(written(lines), LINE_SCOPES, folder)
    for code, part in MISTAKES:
        result = command(folder, "-typecheck", written(mistaken(code)))
        errors = [line for line in result.stderr.split("\n") if ": error: " in line]
        if not errors or "unable to type-check" in result.stderr or not any(part in error for error in errors):
            sys.exit(f"type checking: FAILED: {code} should report {part}\n{result.stderr}")


def main():
    text, count = program()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "main.swift")
        with open(path, "w") as file:
            file.write(text)
        check(path)
        check_columns(folder)
    check("Examples/QuickStart/main.swift")
    print(f"type checking: {count} documented expressions, conditions of 8 terms and the README's program, each within {SCOPES} scopes; "
        f"{', '.join(map(str, COLUMN_SCOPES))} terms by columns within {', '.join(COLUMN_SCOPES.values())}; {len(MISTAKES)} mistakes")


main()
