#!/usr/bin/env python3
"""Lists the public API of every product in API/, one declaration on a line, so that a change of it is a visible difference.

usage: scripts/public-api.py [--check | --undocumented]               after `swift build`
       scripts/public-api.py --symbol-graphs FOLDER [MODULE…]         what scripts/documentation.sh builds the documentation from

Without an option the files are written. With --check they are compared, and the differences end the program with an error. With --undocumented every
declaration without a documentation comment is printed; overloads of a documented declaration of the same name count as documented.
With --symbol-graphs the symbol graphs of the modules are written to FOLDER/MODULE.
"""
import difflib
import json
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

MODULES = [
    "PolyStore", "PolyStoreBackend", "PolyStoreConformance", "PolyStoreCore", "PolyStoreFormats", "PolyStoreGzip", "PolyStoreKeyValue",
    "PolyStoreLMDB", "PolyStoreLevelDB", "PolyStoreMemory", "PolyStorePostgreSQL", "PolyStoreQuery", "PolyStoreSQLite",
    "PolyStoreTables",
]
# What users import under one name is listed and documented under that name.
PARTS = {"PolyStoreCore": ["PolyStoreAdvice", "PolyStoreAttributes", "PolyStoreColumns", "PolyStoreConversion", "PolyStoreHistory", "PolyStoreKernel", "PolyStoreMigration", "PolyStoreObservation", "PolyStorePredicates", "PolyStoreRuns", "PolyStoreSource", "PolyStoreTransfer"]}
FOLDER = pathlib.Path("API")
# System libraries and C targets are found by their module maps.
INCLUDES = [str(path.parent) for folder in ("Sources", "Backends") for path in pathlib.Path(folder).rglob("module.modulemap")]
INCLUDES += [str(path) for folder in ("Sources", "Conformance") for path in pathlib.Path(folder).rglob("include") if path.parent.name.startswith("C")]


def target():
    info = json.loads(subprocess.run(["swift", "-print-target-info"], check=True, capture_output=True).stdout)
    return info["target"]["unversionedTriple" if platform.system() == "Linux" else "triple"]


def extract(module, triple, output, *options, access="public"):
    """Writes the symbol graphs of a module without the members that are inherited from other modules."""
    command = ["swift-symbolgraph-extract"] if platform.system() == "Linux" else ["xcrun", "swift-symbolgraph-extract"]
    command += ["-module-name", module, "-target", triple, "-minimum-access-level", access, "-skip-synthesized-members", *options]
    for folder in [".build/debug/Modules"] + INCLUDES:
        command += ["-I", folder]
    # SwiftPM writes the module maps of C targets that have none.
    for file in pathlib.Path(".build/debug/").glob("*.build/module.modulemap"):
        if file.parent.name.endswith("-tool.build"):
            continue
        command += ["-Xcc", f"-fmodule-map-file={file}"]
    subprocess.run(command + ["-output-dir", str(output)], check=True)


def symbols(module, triple, access="public"):
    """The declarations of a module that are not inherited from other modules."""
    for part in [module, *PARTS.get(module, [])]:
        with tempfile.TemporaryDirectory() as output:
            extract(part, triple, output, access=access)
            for file in sorted(pathlib.Path(output).glob("*.json")):
                yield from json.loads(file.read_text())["symbols"]


def merge(module, output):
    """Makes one symbol graph of those of a module and its parts, in which members that one part adds to types of another are members of these types."""
    graphs = {}
    for file in sorted(output.glob("*.json")):
        # MODULE.symbols.json, or MODULE@EXTENDED.symbols.json for what a module adds to types of another one.
        extended = file.name.removesuffix(".symbols.json").partition("@")[2]
        name = module if extended in ("", module, *PARTS[module]) else f"{module}@{extended}"
        graphs.setdefault(name, []).append(json.loads(file.read_text()))
        file.unlink()
    merged = {}
    for name, parts in graphs.items():
        merged[name] = parts[0]
        merged[name]["module"]["name"] = module
        for key in ("symbols", "relationships"):
            merged[name][key] = [item for part in parts for item in part[key]]
    own = {symbol["identifier"]["precise"] for graph in merged.values() for symbol in graph["symbols"]}
    # The extensions of own types are symbols, and their members refer to them.
    blocks = {
        edge["source"]: edge["target"] for graph in merged.values() for edge in graph["relationships"]
        if edge["kind"] == "extensionTo" and edge["target"] in own
    }
    for name, graph in merged.items():
        graph["symbols"] = [symbol for symbol in graph["symbols"] if symbol["identifier"]["precise"] not in blocks]
        graph["relationships"] = [
            {**edge, "source": blocks.get(edge["source"], edge["source"]), "target": blocks.get(edge["target"], edge["target"])}
            for edge in graph["relationships"] if edge["kind"] != "extensionTo" or edge["source"] not in blocks
        ]
        (output / f"{name}.symbols.json").write_text(json.dumps(graph))


def write_symbol_graphs(folder, modules, triple):
    """Writes the symbol graphs for DocC, with extensions of types of other modules and without generated code."""
    for module in modules:
        output = folder / module
        shutil.rmtree(output, ignore_errors=True)
        output.mkdir(parents=True)
        for part in [module, *PARTS.get(module, [])]:
            extract(part, triple, output, "-emit-extension-block-symbols")
        if module in PARTS:
            merge(module, output)
        for file in output.glob("*.json"):
            graph = json.loads(file.read_text())
            left_out = {symbol["identifier"]["precise"] for symbol in graph["symbols"] if not is_listed(symbol)}
            graph["symbols"] = [symbol for symbol in graph["symbols"] if is_listed(symbol)]
            graph["relationships"] = [edge for edge in graph["relationships"] if left_out.isdisjoint((edge["source"], edge["target"]))]
            file.write_text(json.dumps(graph))


def declaration(symbol):
    text = "".join(part["spelling"] for part in symbol["declarationFragments"])
    return re.sub(r"\s+", " ", text).strip()


def is_listed(symbol):
    """Names that begin with `_` are of generated code."""
    return not any(part.startswith("_") for part in symbol["pathComponents"])


def listing(module, triple):
    lines = set()
    for symbol in symbols(module, triple):
        if is_listed(symbol):
            owner = ".".join(symbol["pathComponents"][:-1])
            lines.add((owner + ": " if owner else "") + declaration(symbol))
    return sorted(lines)


def undocumented(module, triple):
    documented, missing = set(), {}
    for symbol in symbols(module, triple):
        if not is_listed(symbol):
            continue
        name = ".".join(part.split("(")[0] for part in symbol["pathComponents"])
        if symbol.get("docComment", {}).get("lines"):
            documented.add(name)
        else:
            missing.setdefault(name, []).append(declaration(symbol))
    return sorted(f"{name}: {text}" for name, texts in missing.items() if name not in documented for text in texts)


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "--write"
    if mode not in ("--write", "--check", "--undocumented", "--symbol-graphs") or (mode == "--symbol-graphs" and len(sys.argv) < 3):
        sys.exit(__doc__)
    triple = target()
    if mode == "--symbol-graphs":
        write_symbol_graphs(pathlib.Path(sys.argv[2]), sys.argv[3:] or MODULES, triple)
        return
    failures = 0
    for module in MODULES:
        if mode == "--undocumented":
            missing = undocumented(module, triple)
            print(f"{module}: {len(missing)} declarations without documentation")
            print("".join(f"  {line}\n" for line in missing), end="")
            continue
        lines = [line + "\n" for line in listing(module, triple)]
        file = FOLDER / f"{module}.txt"
        if mode == "--write":
            FOLDER.mkdir(exist_ok=True)
            file.write_text("".join(lines))
            print(f"{file}: {len(lines)} declarations")
            continue
        kept = file.read_text().splitlines(keepends=True) if file.exists() else []
        difference = list(difflib.unified_diff(kept, lines, str(file), "the build"))
        failures += bool(difference)
        sys.stdout.writelines(difference)
    if failures:
        sys.exit("The public API differs from the listing. Run scripts/public-api.py, and commit the difference if it is meant.")


if __name__ == "__main__":
    main()
