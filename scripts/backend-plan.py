#!/usr/bin/env python3
"""Checks that a third party's backend builds neither the macros nor swift-syntax: the plan of the last build in .build/debug.yaml must not reach them.

usage: scripts/backend-plan.py     after a build of Examples/CustomBackend in the scratch folder .build
"""
import json
import pathlib
import re
import sys

PLAN = pathlib.Path(__file__).resolve().parent.parent / ".build/debug.yaml"


def main():
    producers, inputs, targets, command = {}, {}, {}, None
    for line in PLAN.read_text().splitlines():
        if found := re.match(r'  "(.*)":(?: (\[.*\]))?$', line):
            command, nodes = found.groups()
            if nodes:
                targets[command] = json.loads(nodes)
        elif found := re.match(r"    (inputs|outputs): (\[.*\])$", line):
            nodes = json.loads(found[2])
            if found[1] == "inputs":
                inputs[command] = nodes
            else:
                for node in nodes:
                    producers[node] = command
    todo, reached = list(targets["test"]), set()
    while todo:
        node = todo.pop()
        if node not in reached:
            reached.add(node)
            todo += inputs.get(producers.get(node), [])
    compiled = {match[1] for node in reached if (match := re.search(r"/(\w+?)(?:-tool)?\.build/.*\.o$", node))}
    # A plan that is read wrongly would reach nothing.
    expected = {"FileStore", "FileStoreTests", "PolyStoreBackend", "PolyStoreKeyValue", "PolyStoreConformance"}
    if not expected <= compiled:
        sys.exit(f"The plan in {PLAN.name} does not reach {', '.join(sorted(expected - compiled))}: it is not that of Examples/CustomBackend.")
    refused = sorted(name for name in compiled if name.startswith("SwiftSyntax") or name in ("PolyStoreMacros", "PolyStoreCore", "PolyStore"))
    if refused:
        sys.exit(f"The build of a backend compiles {', '.join(refused)}.")
    print(f"a backend builds {len(compiled)} modules, and neither the macros nor swift-syntax")


main()
