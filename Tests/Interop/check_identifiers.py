#!/usr/bin/env python3
"""Checks that every identifier, file and case id in backticks in the documents exists.

An identifier is a word or words joined by periods, with or without arguments: `fetchAll`, `Context.fetchOne(_:)`, `.unique`, `@Model`. Each of its words
must occur in the code of the repository: Swift and C without comments, scripts, and the names of tests and cases. Code blocks are not read here; check_guides.py
compiles them. What belongs to other software is listed in FOREIGN, by page or for all pages.

usage: Tests/Interop/check_identifiers.py [PAGE...]     in the root of the repository
"""
import fnmatch
import pathlib
import re
import subprocess
import sys

# Decisions and earlier measurements describe the code of their time, and the changelog names what was removed.
EXCLUDED = ("docs/decisions/*", "Benchmarks/history/*", "CHANGELOG.md", "*/LICENSE*")

# Names of the system, of tools and of languages.
FOREIGN = set(
    """
    perf callgrind unlink_chunk _int_free malloc_consolidate mprotect NSPredicate XID_Start XID_Continue ForEach AndWait ll REFERENCES
    docs/decisions/NNN-title.md NAME.NUMBER.partial Entity_relationship A_b.c ANYKEY CASEINSENSITIVE polystore.external-commits PGPASSWORD
    """.split()
)
# Names of other software, for pages that compare with it.
FOREIGN_ON = {
    "docs/guides/coming-from.md": set(
        """
        xcdatamodeld NSExpressionDescription propertiesToGroupBy asPublisher NSFetchedResultsController fetchRequest managedObjectContext sectionNameKeyPath
        cacheName ListReader NSBatchInsertRequest CustomSchemaMappingProvider addStorage NSMappingModel shouldMigrateStoreAutomatically
        shouldInferMappingModelAutomatically VersionedSchema SchemaMigrationPlan MigrationStage asSnapshot newBackgroundContext
        automaticallyMergesChangesFromParent mainContext NSPersistentHistoryChangeRequest fetchHistory TransactionObserver
        unsafeRemoveAllPersistentStoresAndWait coordinator destroyPersistentStore replacePersistentStore deleteAllData
        """.split()
    )
}

IDENTIFIER = re.compile(r"[.@#\\$_]*[A-Za-z]\w*(?:[?!]?\.[A-Za-z_]\w*)*(?:\([^()]*\))?[?!]?")
WORD = re.compile(r"[A-Za-z_]\w*")
FILE = re.compile(r"[\w+*/.-]+\.(?:swift|py|sh|md|txt|c|h|json)")
CASE = re.compile(r"[a-z]+(?:\.[a-z0-9*-]+)+")


def code(path, text):
    """Returns the text of a source file without comments."""
    if path.suffix in (".swift", ".c", ".h"):
        return re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.S)
    return text


listed = [path for path in subprocess.run(["git", "ls-files"], check=True, capture_output=True, text=True).stdout.split("\n") if path]
files = {path for path in listed if pathlib.Path(path).exists()}
folders = {str(parent) for path in files for parent in pathlib.PurePath(path).parents}
folder_names = {pathlib.PurePath(folder).name for folder in folders}
ends = {"/".join(path.split("/")[start:]) for path in files | folders for start in range(path.count("/") + 1)}
words, strings = set(), ""
for name in files:
    path = pathlib.Path(name)
    if path.suffix in (".swift", ".c", ".h", ".py", ".sh", ".json") or path.name in ("Makefile", "run", "names.txt", "mutants.txt", "limits.txt"):
        if path.name == "check_identifiers.py":
            continue
        text = code(path, path.read_text(errors="replace"))
        words.update(WORD.findall(text))
        if path.name == "names.txt":
            strings += text
        # Environment variables and options are in strings and in comments of scripts.
cases = set(re.findall(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+", strings))
# The modules and products of the package.
words.update(re.findall(r'name: "([\w-]+)"', pathlib.Path("Package.swift").read_text()))


def missing(name, page):
    """Returns why a name in backticks does not exist; None if it exists or is none that can be checked."""
    foreign = FOREIGN | FOREIGN_ON.get(page, set())
    if name in foreign:
        return None
    if FILE.fullmatch(name):
        if any(fnmatch.fnmatch(end, name) for end in ends) if "*" in name else name in ends:
            return None
        return "there is no such file"
    if name in folder_names:
        return None
    if CASE.fullmatch(name) and ("-" in name or "*" in name):
        if any(fnmatch.fnmatch(case, name) for case in cases):
            return None
        return "there is no such case"
    if not IDENTIFIER.fullmatch(name) or not re.search(r"[A-Za-z]{2}", name):
        return None
    if CASE.fullmatch(name) and name in cases:
        return None
    head, _, arguments = name.partition("(")
    named = WORD.findall(head) + re.findall(r"([A-Za-z_]\w*):", arguments)
    lost = [word for word in named if word not in words and word not in foreign]
    return "there is no " + ", ".join(lost) if lost else None


def prose(text):
    """Returns the lines of a page outside of code blocks, with their numbers."""
    fence = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip().startswith("```"):
            fence = not fence
        elif not fence and not line.startswith("    "):
            yield number, line


pages = sys.argv[1:] or sorted(path for path in files if path.endswith(".md") and not any(fnmatch.fnmatch(path, e) for e in EXCLUDED))
wrong, count = [], 0
for page in pages:
    for number, line in prose(pathlib.Path(page).read_text()):
        for name in re.findall(r"`([^`]+)`", line.replace("``", "`")):
            count += 1
            reason = missing(name, page)
            if reason:
                wrong.append(f"{page}:{number}: `{name}`: {reason}")
if wrong:
    print("\n".join(wrong))
    sys.exit(f"FAILED {len(wrong)} of {count} names in backticks do not exist. Correct the page; names of other software are listed in this script.")
print(f"the {count} names in backticks of {len(pages)} pages exist")
