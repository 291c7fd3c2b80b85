#!/usr/bin/env python3
"""Checks that a third party's backend builds neither the macros nor swift-syntax: the plan of the last build in .build/debug.yaml must not reach them.

usage: scripts/backend-plan.py     after a build of Examples/CustomBackend in the scratch folder .build
"""
import pathlib
import sys

import build_plan

PLAN = pathlib.Path(__file__).resolve().parent.parent / ".build/debug.yaml"


def main():
    compiled = build_plan.modules(PLAN, "test")
    # A plan that is read wrongly would reach nothing.
    expected = {"FileStore", "FileStoreTests", "PolyStoreBackend", "PolyStoreKeyValue", "PolyStoreConformance"}
    if not expected <= compiled:
        sys.exit(f"The plan in {PLAN.name} does not reach {', '.join(sorted(expected - compiled))}: it is not that of Examples/CustomBackend.")
    refused = sorted(name for name in compiled if name.startswith("SwiftSyntax") or name in ("PolyStoreMacros", "PolyStoreCore", "PolyStore"))
    if refused:
        sys.exit(f"The build of a backend compiles {', '.join(refused)}.")
    print(f"a backend builds {len(compiled)} modules, and neither the macros nor swift-syntax")


main()
