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
# The limit for conditions by columns of up to 20 terms.
COLUMN_SCOPES = "320"

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


def columns():
    """Returns conditions by columns, as one expression and in lines."""
    lines = [MODEL, "let now = Date()"]
    for count in (2, 5, 10, 20):
        terms = (2 * TERMS)[:count]
        lines.append(f"func expression{count}() {{ _ = From<Person>().where {{ {' && '.join(terms)} }} }}")
        lines.append(f"func either{count}() {{ _ = From<Person>().where {{ {' || '.join(terms)} }} }}")
        lines.append(f"func lines{count}() {{ _ = From<Person>().where {{\n" + "\n".join(terms) + "\n} }")
    return "\n".join(lines) + "\n"


def check(path, scopes=SCOPES):
    maps = [os.path.join(folder, name) for folder, _, names in os.walk(".") if "/.build" not in folder for name in names if name == "module.modulemap"]
    command = ["swiftc", "-typecheck", "-swift-version", "6", "-I", MODULES, "-Xfrontend", f"-solver-scope-threshold={scopes}"]
    command += [flag for name in maps for flag in ("-Xcc", f"-fmodule-map-file={name}")]
    command += ["-load-plugin-executable", ".build/debug/PolyStoreMacros-tool#PolyStoreMacros", path]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"type checking: FAILED with a limit of {scopes} scopes\n{result.stdout}{result.stderr}")


def main():
    text, count = program()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "main.swift")
        with open(path, "w") as file:
            file.write(text)
        check(path)
        with open(path, "w") as file:
            file.write(columns())
        check(path, COLUMN_SCOPES)
    check("Examples/QuickStart/main.swift")
    print(f"type checking: {count} documented expressions, conditions of 8 terms and the README's program, each within {SCOPES} scopes; "
        f"20 terms by columns within {COLUMN_SCOPES}")


main()
