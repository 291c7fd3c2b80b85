#!/usr/bin/env python3
"""Checks that the README's program equals Examples/QuickStart, which is compiled and run, and that its chart shows the published figures."""
import re
import subprocess
import sys

readme = open("README.md").read()
blocks = re.findall(r"```swift\n(.*?)```", readme, re.S)
program = open("Examples/QuickStart/main.swift").read()
if program not in blocks:
    sys.exit("FAILED Examples/QuickStart/main.swift is not one of the Swift blocks of README.md; copy one to the other")
print("interop: the README's program is the one that is compiled")
sys.exit(subprocess.run([sys.executable, "Benchmarks/overview.py", "--check"]).returncode)
