#!/usr/bin/env python3
"""Compiles the Swift code of README.md, of the pages in docs and in .docc folders and of the doc comments, and checks the links between the pages.

A block below `<!-- from: FILE -->` must occur in a file that is compiled as a test. Every other block is compiled here: one module for each page, with the
models of DocumentationModels.swift. Each block becomes a function; its types are visible to later blocks of the page. A block that redeclares a type begins
a new module. `<!-- not compiled: REASON -->` above a block excludes it.

In doc comments of Sources/PolyStore and of the modules of the object layer a block is a paragraph that is indented by four spaces.

Usage: Tests/Interop/check_guides.py [PATH...]     after `swift build`; with paths, checks these files only.
"""
import collections
import concurrent.futures
import glob
import os
import re
import subprocess
import sys
import tempfile

FENCE = re.compile(r"(?:<!-- (from|not compiled): ([^\n]+?) -->\n+)?^( *)```swift\n(.*?)^ *```", re.S | re.M)
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
MODULES = ".build/debug/Modules"
MODELS = "Tests/Interop/DocumentationModels.swift"
IMPORTS = ["Foundation", "PolyStore", "PolyStoreSQLite", "PolyStoreLMDB", "PolyStoreLevelDB", "PolyStoreMemory", "PolyStorePostgreSQL"]
PARAMETERS = """
stack: DataStack, context: Context, transaction: Transaction, schema: Schema, jane: Person, person: Person, city: City, id: ObjectID<Person>,
departmentID: ObjectID<Department>, controller: Controller, token: HistoryToken?, source: CitySource, clauses: [any FetchClause<Person>],
snapshot: ListSnapshot<Person>, row: [String: QueryValue], names: [String], company1: LockedSchema, company2: LockedSchema, dataSource: DataSource, label: Label, server: Server
""".strip().replace("\n", " ")
# Imports of the doc comments. A module of its own has the blocks that declare them.
IMPORTED = """
extension Person: ImportableUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<Person, String> { \\.email }
    static func uniqueID(from source: [String: JSONValue], in transaction: Transaction) throws -> String? { nil }
    func update(from source: [String: JSONValue], in transaction: Transaction) throws {}
}
extension Visit: ImportableObject {
    func didInsert(from source: [String: JSONValue], in transaction: Transaction) throws {}
}
extension City: MappedUniqueObject {
    static var uniqueIDKeyPath: WritableKeyPath<City, Int> { \\.geonameID }
    static let importMapping: RecordMapping<City> = RecordMapping(uniqueID: "geonameid")
}
"""
DECLARATION = re.compile(
    r"(?:(?:public|private|fileprivate|final|@MainActor|@\w+(?:\([^)]*\))?) +)*(class|struct|enum|protocol|actor|extension|func)\b *([\w.]*)"
)
CLAUSE = re.compile(r"(Where|OrderBy|From|Into|GroupBy|Having|Select|Tweak|SectionBy)(?=[(] |[(]| [{])")

# Pages whose code is that of their time, or that have none.
LINKED_ONLY = sorted(page for folder in ("docs/decisions", "Benchmarks", "Benchmarks/history") for page in glob.glob(f"{folder}/*.md"))

MODEL_TYPES = set(re.findall(r"^(?:final )?(?:class|struct|actor) (\w+)", open(MODELS).read(), re.M))

# Doc comments of these are parts of declarations or of user interfaces, which do not compile outside of them.
SKIPPED = {
    "…": "has an ellipsis",
    "@State ": "is a part of a SwiftUI view",
}


class Block:
    def __init__(self, file, line, text):
        self.file, self.line, self.text = file, line, text


def lines(text):
    return [line.strip() for line in text.strip("\n").split("\n")]


def occurs(block, text):
    wanted, found = lines(block), lines(text)
    return any(found[i : i + len(wanted)] == wanted for i in range(len(found) - len(wanted) + 1))


def items(text):
    """Returns the top-level items of a block as (line offset, text, keyword, name); statements have no keyword."""
    found, start, pending = [], None, []
    source = text.split("\n")
    i = 0
    while i < len(source):
        line = source[i]
        if line.startswith("import "):
            found.append((i, line, "import", line.split()[1]))
        elif re.fullmatch(r"@\w+(\(.*\))?", line.strip()) and not line.startswith(" "):
            pending.append(i)
            i += 1
            continue
        elif match := DECLARATION.match(line):
            begin = pending[0] if pending else i
            end = i
            if not line.rstrip().endswith("}") or line.count("{") != line.count("}"):
                while end + 1 < len(source) and not source[end].startswith("}"):
                    end += 1
            found.append((begin, "\n".join(source[begin : end + 1]), match.group(1), match.group(2)))
            i = end
        else:
            begin = pending[0] if pending else i
            text = "\n".join(source[begin : i + 1])
            if found and found[-1][2] == "":
                found[-1] = (found[-1][0], found[-1][1] + "\n" + text, "", "")
            else:
                found.append((begin, text, "", ""))
        pending = []
        i += 1
    return found


def types(block):
    return {name for _, _, keyword, name in items(block.text) if keyword in ("class", "struct", "enum", "protocol", "actor")}


def conformances(block):
    return {text.split("{")[0].strip() for _, text, keyword, _ in items(block.text) if keyword == "extension"}


def groups(blocks):
    """Groups blocks into modules in which no type is declared twice."""
    result, declared = [], None
    for block in blocks:
        new = types(block) | conformances(block)
        if declared is None or declared & new:
            result.append([])
            declared = set()
        result[-1].append(block)
        declared |= new
    return result


def module(blocks, prelude=None):
    """The text of a module. Blocks of doc comments have a prelude, and their statements are those of a method of City."""
    text = [f"import {name}" for name in IMPORTS] + [prelude or ""]
    parameters = PARAMETERS + ("" if prelude is None else ", sources: [[String: JSONValue]], cities: [SourceRecord]")
    for number, block in enumerate(blocks):
        statements = []
        for offset, code, keyword, _ in items(block.text):
            if keyword == "import":
                text.append(code)
            elif keyword == "func" and prelude is not None:
                text.append(f"extension {'City' if 'CitySource' in code else 'Meeting'} {{")
                text.append(located(block, offset, code))
                text.append("}")
            elif keyword:
                text.append(located(block, offset, code))
            elif code.strip():
                statements.append((offset, code))
        if statements:
            body = "\n".join(code for _, code in statements)
            if prelude is not None:
                statements = [(offset, hinted(code)) for offset, code in statements]
            effects = "async throws" if re.search(r"\bawait\b|for try await", body) else "throws"
            text.append("" if prelude is None else "extension City {")
            text.append(f"@MainActor func block{number}({parameters}) {effects} {{")
            for offset, code in statements:
                text.append(located(block, offset, code))
            text.append("}" if prelude is None else "}}")
    if set().union(*map(types, blocks)) & MODEL_TYPES:
        return "@testable import DocumentationModels\n" + "\n".join(text) + "\n"
    # A class of another module cannot conform to a protocol by internal members, so the models are a part of this module.
    return "\n".join(text) + f'\n#sourceLocation(file: "{MODELS}", line: 1)\n' + open(MODELS).read()


def hinted(code):
    """Gives clauses that stand alone in a doc comment the entity that a request would give them."""
    result = []
    for line in code.split("\n"):
        if match := CLAUSE.match(line):
            rest = line[match.end() :]
            line = f"_ = {line}" if rest.startswith("<") or match.group(1) in ("From", "Into", "Select") else f"let _: {match.group(1)}<Person> = {line}"
        result.append(line)
    return "\n".join(result)


def located(block, offset, code):
    return f'#sourceLocation(file: "{block.file}", line: {block.line + offset})\n{code}'


def flags():
    maps = glob.glob(".build/debug/CFlushProbe.build/module.modulemap")
    maps += [os.path.join(folder, "module.modulemap") for folder, _, names in os.walk(".") if "/.build" not in folder and "module.modulemap" in names]
    result = ["-swift-version", "6", "-suppress-warnings", "-I", MODULES]
    result += [flag for name in maps for flag in ("-Xcc", f"-fmodule-map-file={name}")]
    return result + ["-load-plugin-executable", ".build/debug/PolyStoreMacros-tool#PolyStoreMacros"]


def run(arguments):
    result = subprocess.run(["swiftc"] + arguments, capture_output=True, text=True)
    if result.returncode == 0:
        return []
    errors = [line for line in result.stderr.split("\n") if re.match(r"\S.*error:", line)]
    return errors or [result.stderr]


def compile_all(modules):
    with tempfile.TemporaryDirectory() as folder:
        models = ["-emit-module", "-enable-testing", "-parse-as-library", "-module-name", "DocumentationModels", "-o", f"{folder}/DocumentationModels.swiftmodule", MODELS]
        errors = run(models + flags())
        if errors:
            return errors

        def check(number):
            path = os.path.join(folder, f"Page{number}.swift")
            with open(path, "w") as file:
                file.write(modules[number])
            return run(["-emit-sil", "-o", "/dev/null", "-parse-as-library", "-module-name", f"Page{number}", "-I", folder, path] + flags())

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            return [error for errors in pool.map(check, range(len(modules))) for error in errors]


def page_blocks(page, failures, counts):
    text = open(page).read()
    blocks = []
    for match in FENCE.finditer(text):
        kind, value, indent, code = match.groups()
        line = text.count("\n", 0, match.start(4)) + 1
        if kind == "not compiled":
            counts["left out in pages"] += 1
        elif kind == "from":
            counts["parts of tests"] += 1
            if not os.path.isfile(value):
                failures.append(f"{page}:{line}: the file {value} does not exist")
            elif not occurs(code, open(value).read()):
                failures.append(f"{page}:{line}: this block differs from {value}; copy one to the other")
        else:
            counts["compiled in pages"] += 1
            code = "\n".join(x[len(indent) :] for x in code.rstrip("\n").split("\n"))
            blocks.append(Block(page, line, code))
    return blocks


def comment_blocks(file, counts, left_out):
    source = open(file).read().split("\n")
    blocks, i = [], 0
    while i < len(source):
        starts = re.match(r"\s*///     \S", source[i]) and (i == 0 or re.fullmatch(r"\s*///", source[i - 1]))
        if not starts:
            i += 1
            continue
        j = i
        while j < len(source) and re.match(r"\s*///(     |\s*$)", source[j]):
            j += 1
        code = "\n".join(re.sub(r"^\s*/// ?", "", line)[4:] for line in source[i:j]).rstrip()
        reason = next((why for mark, why in SKIPPED.items() if mark in code), None)
        if code.startswith((".", "static ", "@Relationship")):
            reason = "is a part of a declaration"
        if reason:
            counts["doc comments left out"] += 1
            left_out.append(f"    {file}:{i + 1} {reason}")
        else:
            counts["compiled in doc comments"] += 1
            blocks.append(Block(file, i + 1, code))
        i = j
    return blocks


def check_links(page, failures):
    # Code can contain text that resembles a link.
    for target in LINK.findall(re.sub(r"```.*?```|`[^`\n]*`", "", open(page).read(), flags=re.S)):
        if not os.path.exists(os.path.join(os.path.dirname(page), target)):
            failures.append(f"{page}: the target of the link {target} does not exist")


def main():
    only = set(sys.argv[1:])
    failures, modules, counts = [], [], collections.Counter()
    pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md"] + sorted(page for page in glob.glob("docs/**/*.md", recursive=True) if not page.startswith("docs/decisions/"))
    pages += sorted(page for folder in ("Sources", "Backends", "Conformance") for page in glob.glob(f"{folder}/**/*.docc/*.md", recursive=True))
    sources = sorted(glob.glob("Sources/PolyStore/**/*.swift", recursive=True)) + sorted(
        source
        for module in ("Conditions", "Core", "History", "Kernel", "Migration", "Observation", "Transfer")
        for source in glob.glob(f"Sources/PolyStore{module}/**/*.swift", recursive=True))
    if only:
        pages, sources = [p for p in pages if p in only], [s for s in sources if s in only]
    for page in pages:
        modules += [module(group) for group in groups(page_blocks(page, failures, counts))]
        check_links(page, failures)
    for page in LINKED_ONLY if not only else []:
        check_links(page, failures)
    shared, left_out = [], []
    for source in sources:
        blocks = comment_blocks(source, counts, left_out)
        if any(types(block) | conformances(block) for block in blocks):
            modules += [module(group, "") for group in groups(blocks)]
        else:
            shared += blocks
    modules.append(module(shared, IMPORTED))
    if not only and counts["compiled in pages"] < 20:
        failures.append("fewer than 20 Swift blocks were found in the pages")
    failures += compile_all(modules)
    if failures:
        sys.exit("FAILED\n" + "\n".join(failures))
    print("\n".join(left_out))
    print("documentation: " + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())) + f", in {len(modules)} modules")


main()
