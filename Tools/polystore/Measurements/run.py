"""Measures the answers of the browser on stores of 1,000,000 rows, one engine after the other.

    python3 Tools/polystore/Measurements/run.py FOLDER [--rows N] [ENGINE…]

FOLDER keeps the stores; one that exists is not created again. Build first:
    swift build -c release --package-path Tools/polystore --product browser-measurement --product postgresql-server
"""
import argparse
import pathlib
import subprocess

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("engines", nargs="*", default=["sqlite", "lmdb", "leveldb", "postgresql"])
parser.add_argument("--rows", type=int, default=1_000_000)
parser.add_argument("--bin", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / ".build/release")
arguments = parser.parse_args()
arguments.folder.mkdir(parents=True, exist_ok=True)
program = str(arguments.bin / "browser-measurement")

for engine in arguments.engines:
    server = None
    place = arguments.folder / f"measured.{engine}"
    if engine == "postgresql":
        server = subprocess.Popen([arguments.bin / "postgresql-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        url = server.stdout.readline().strip() + "?schema=measured"
    else:
        url = f"{engine}:{place}"
    try:
        if server or not place.exists():
            subprocess.run([program, "fill", url, str(arguments.rows)], check=True)
        print(f"## {engine}, {arguments.rows:,} rows: median and greatest time", flush=True)
        subprocess.run([program, "run", url], check=True)
    finally:
        if server:
            server.stdin.close()
            server.wait()
