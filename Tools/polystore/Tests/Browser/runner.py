"""Runs the behaviours in one process of Chromium, each in a context of its own."""
import argparse
import importlib
import pathlib
import re
import sys
import tempfile
import time
import traceback

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

import behaviour
import installation
from servers import Server, Stores

TOPICS = ["entities", "rows", "filters", "facets", "objects", "groups", "history", "editing", "keys", "layout", "safety", "hostile", "audits"]


class Run:
    """A run: the stores, the servers that are shared, and the results."""

    def __init__(self, stores, browser, shots, writes):
        self.stores, self.browser, self.writes = stores, browser, writes
        self.shots = shots
        self.shots.mkdir(parents=True, exist_ok=True)
        self.axe = Axe()
        self.servers, self.notes, self.failed = {}, [], []

    def note(self, text):
        """Keeps a line for the end of the output."""
        self.notes.append(text)

    def server(self, item):
        if item.write:
            return Server(self.stores.copy(item.store), write=True)
        if item.store not in self.servers:
            self.servers[item.store] = Server(self.stores.path(item.store))
        return self.servers[item.store]

    def run(self, item):
        began = time.monotonic()
        failure = self.failure(item)
        if failure:
            self.failed.append(item.id)
        print(f"{'FAILED' if failure else 'ok    '} {item.id:28} {time.monotonic() - began:5.1f} s  {item.sentence}", flush=True)
        if failure:
            print("  " + failure.replace("\n", "\n  "), flush=True)

    def failure(self, item):
        """Runs a behaviour. Returns what failed; None if nothing did."""
        server, visit = None, None
        try:
            server = self.server(item)
            context = self.browser.new_context(**item.options)
            visit = behaviour.Visit(server, context, self)
            visit.enter()
            item.function(visit)
            assert not visit.harmed(), "a script of the store ran in a page"
            problems = [problem for problem in visit.problems if not (item.failures and "Failed to load resource" in problem)]
            assert not problems, "\n".join(problems[:5])
        except Exception as error:  # Any error is a failure of the behaviour.
            return self.report(item, visit, error)
        finally:
            if visit:
                visit.context.close()
            if item.write and server:
                server.stop()
        return None

    def report(self, item, visit, error):
        last = traceback.extract_tb(error.__traceback__)
        place = next((f"{pathlib.Path(frame.filename).name}:{frame.lineno}" for frame in reversed(last) if "behaviours" in frame.filename), "")
        text = f"{place} {type(error).__name__}: {str(error)[:1500]}"
        try:
            visit.shot(f"failed-{item.id}")
            text += f"\nat {visit.page.url[:300]}" + "".join(f"\n{problem[:300]}" for problem in visit.problems[:5])
        except Exception:  # There is no page, or it does not answer.
            pass
        return text


def arguments(values):
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--shots", type=pathlib.Path, default=pathlib.Path(".build/browser-shots"))
    parser.add_argument("--atlas")
    parser.add_argument("--list", action="store_true")
    return parser.parse_args(values)


def main(values):
    options = arguments(values)
    for topic in TOPICS:
        importlib.import_module(f"behaviours.{topic}")
    chosen = [item for item in behaviour.TABLE if re.search(options.only, item.id)]
    ids = [item.id for item in behaviour.TABLE]
    assert len(set(ids)) == len(ids), "two behaviours have one id"
    if options.list:
        print("\n".join(f"{item.id:28} {item.sentence}" for item in chosen))
        return 0
    began = time.monotonic()
    expect.set_options(timeout=behaviour.LIMIT * 1000)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        stores = Stores(folder, options.atlas)
        # As root, Chromium runs only without its sandbox.
        browser = playwright.chromium.launch(executable_path=installation.chromium(), args=["--no-sandbox"])
        run = Run(stores, browser, options.shots, options.write)
        for item in chosen:
            run.run(item)
        codes = {name: server.stop() for name, server in run.servers.items()}
        if any(code not in (0, 130) for code in codes.values()):
            run.failed.append(f"servers ended with {codes}")
        browser.close()
    print("\n".join(run.notes))
    if run.failed:
        print(f"{len(run.failed)} of {len(chosen)} behaviours failed: {', '.join(run.failed)}", file=sys.stderr)
        return 1
    print(f"browser: {len(chosen)} behaviours hold in {time.monotonic() - began:.0f} s")
    return 0
