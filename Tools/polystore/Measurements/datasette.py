#!/usr/bin/env python3
"""Counts the keys that ten tasks take in the browser and in Datasette over the same store, and measures the servers' times of their pages.

usage: python3 Tools/polystore/Measurements/datasette.py STORE [options]
  STORE            the SQLite file that `make demo` writes
  --tool PATH      the program polystore; by default .build/release/polystore, or .build/debug/polystore if there is none
  --requests N     the number of requests for each time; by default 30
  --no-times       counts keys only
  --only REGEX     performs the tasks whose numbers match

Prints Markdown. Both programs are used in Chromium by the keyboard alone, from their first page, with their defaults and without plug-ins. A key with its modifiers
counts one, a text its characters. A choice in a list is typed as far as it is unambiguous. The address bar is focused by one key, continued at its end by another, and
left by Enter; between them, removed and typed characters count. Chromium's own search in a page is not used. Where a program has several ways, each is performed, and the shortest counts. Each way ends with a
check of the result.

Chromium is installed with apt-get by root, and playwright and Datasette with pip into a folder of .build. Where that is not possible, the program says so and does nothing.
"""
import argparse
import contextlib
import csv
import dataclasses
import http.client
import io
import os
import pathlib
import re
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "Tools/polystore/Tests/Browser"))

import installation  # noqa: E402

VERSION = "0.65.5"
OURS, THEIRS, KEYED = "polystore", "Datasette", "Datasette, foreign keys"

TASKS = {
    1: "the number of objects of each entity, and the diagram",
    2: "cities by population, the end of the order",
    3: "cities of more than 15,000,000 people",
    4: "countries counted by continent, and those of one",
    5: "from a country to its continent, and to its other countries",
    6: "what a view of cities costs: index, rows examined",
    7: "a chart of countries by continent",
    8: "the latest transactions",
    9: "all countries as CSV",
    10: "another name for a continent, committed",
}
# What Datasette lacks of a task, after its keys or in their place.
MISSING = {
    1: "The counts only, on the page of the database. There is no diagram.",
    6: "The plan of SQLite only, by `explain query plan` in the SQL editor. Each page shows the time of its queries, but not the rows that were examined, nor an index that would help.",
    7: "Charts need a plug-in.",
    8: "It shows what the tables contain now. The atlas records no history either, which polystore states on the page.",
    10: "Editing needs a plug-in, or an alpha release of 1.0.",
}
WAYS = []


@dataclasses.dataclass
class Way:
    """A way to perform a task with a program, and the function that takes it."""

    task: int
    program: str
    text: str
    function: object


def way(task, program, text):
    """Adds a function to the ways."""

    def add(function):
        WAYS.append(Way(task, program, text, function))
        return function

    return add


# MARK: Servers


class Datasette:
    """A process of Datasette with its defaults."""

    def __init__(self, store):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.origin = f"http://127.0.0.1:{port}"
        self.address, self.netloc, self.headers = self.origin + "/", f"127.0.0.1:{port}", {}
        command = [sys.executable, "-m", "datasette", "serve", store.name, "--port", str(port)]
        self.process = subprocess.Popen(command, cwd=store.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                return
            time.sleep(0.1)
        self.stop()
        raise AssertionError("Datasette does not listen")

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def browser_server(store, write=False):
    """Returns a process of `polystore browse`."""
    import servers

    server = servers.Server(store, write=write)
    server.netloc, server.headers = server.parts.netloc, {"Authorization": f"Bearer {server.token}"}
    return server


def copied(store, folder, foreign_keys=False):
    """Copies the newest state of a store into a folder, as a file without a log."""
    folder.mkdir()
    path = folder / "atlas.db"
    with contextlib.closing(sqlite3.connect(f"file:{urllib.parse.quote(str(store))}?mode=ro", uri=True)) as source:
        with contextlib.closing(sqlite3.connect(path)) as target:
            source.backup(target)
            if foreign_keys:
                target.execute("PRAGMA writable_schema = ON")
                for column, table in (("country", "Country"), ("continent", "Continent")):
                    target.execute(
                        "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'table'",
                        (f'"{column}" INTEGER', f'"{column}" INTEGER REFERENCES "{table}"("objectID")'))
                target.commit()
    return path


# MARK: Keys of both programs


def reach(visit, selector):
    """Presses Tab until the focus is on an element."""
    for _ in range(300):
        visit.press("Tab")
        if visit.page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
    raise AssertionError(f"Tab does not reach {selector} on {visit.page.url}")


def follow(visit, pattern):
    """Presses Enter, and waits for an address."""
    with visit.page.expect_navigation(url=re.compile(pattern)):
        visit.press("Enter")


def choose(visit, text):
    """Types the shortest beginning of a choice that selects it in the focused list."""
    choices = visit.page.evaluate("[...document.activeElement.options].map((option) => option.label.trim())")
    lengths = range(1, len(text) + 1)
    length = next(size for size in lengths if next((choice for choice in choices if choice.lower().startswith(text[:size].lower())), None) == text)
    visit.type(text[:length])
    chosen = visit.page.evaluate("document.activeElement.selectedOptions[0].label.trim()")
    assert chosen == text, f"{text[:length]} chooses {chosen}"


def keys_of_address(visit, path):
    """Returns the keys that open a path by the address bar: the address is changed from where it differs, or typed again if that is shorter."""
    shown = urllib.parse.unquote(visit.page.url.removeprefix("http://")).rstrip("/")
    wanted = visit.server.netloc + path
    common = len(os.path.commonprefix([shown, wanted]))
    return 2 + min(len(wanted), 1 + len(shown) - common + len(wanted) - common)


def go(visit, path):
    """Opens a path by the address bar. A program without a window has none, so its keys are counted only."""
    visit.keys += keys_of_address(visit, path)
    visit.page.goto(visit.server.origin + path)


def go_back(visit):
    """Returns to the previous page by Alt-Left, which a program without a window does not obey."""
    visit.keys += 1
    visit.page.go_back()


def holds(visit, *texts):
    """Fails unless the page shows texts."""
    shown = visit.page.locator("body").inner_text()
    for text in texts:
        assert text in shown, f"{text} is not on {visit.page.url}"


# MARK: The tasks in the browser


def entity(visit, name):
    """Opens the rows of an entity from the first page."""
    names = [text.strip() for text in visit.page.locator("#entities tbody th a").all_inner_texts()]
    visit.press(*["j"] * (names.index(name) + 1))
    follow(visit, "/rows")


@way(1, OURS, "`d`")
def _(visit):
    visit.press("d")
    assert visit.page.evaluate("document.activeElement.id") == "diagram"
    assert visit.page.locator("#diagram svg").count() == 1
    holds(visit, "34006", "28298")


@way(2, OURS, "`o`, the order, `]`")
def _(visit):
    entity(visit, "City")
    visit.press("o")
    reach(visit, "#order")
    choose(visit, "population ↑")
    follow(visit, "order=population")
    with visit.page.expect_navigation(url=re.compile("page=last")):
        visit.press("]")
    assert visit.names()[-1] == "Shanghai", visit.names()[-3:]


LARGEST = ["Beijing", "Guangzhou", "Istanbul", "Kinshasa", "Lagos", "Shanghai", "Shenzhen"]


@way(3, OURS, "`/`, the condition")
def _(visit):
    entity(visit, "City")
    visit.press("/")
    visit.type("population>15000000")
    follow(visit, "filter=")
    assert sorted(visit.names()) == LARGEST, visit.names()


@way(3, OURS, "`/`, the condition with completion")
def _(visit):
    entity(visit, "City")
    visit.press("/")
    visit.type("p")
    visit.page.locator("#filter-choices li").first.wait_for()
    choices = visit.page.locator("#filter-choices li").all_inner_texts()
    visit.press(*["ArrowDown"] * (1 + next(index for index, text in enumerate(choices) if text.startswith("population"))))
    visit.press("Enter")
    visit.type(">15000000")
    follow(visit, "filter=")
    assert sorted(visit.names()) == LARGEST, visit.names()


@way(4, OURS, "`f`, the property, the value")
def _(visit):
    entity(visit, "Country")
    visit.press("f")
    choose(visit, "continent")
    follow(visit, "facet=continent")
    visit.page.locator("#facet-values a").first.wait_for()
    name = visit.page.locator("#facet-values a").first.inner_text()
    visit.press("f")
    reach(visit, "#facet-values a")
    follow(visit, "of=|filter=")
    assert set(visit.column("continent")) == {name}


@way(5, OURS, "`j`, `l` twice")
def _(visit):
    entity(visit, "Country")
    visit.press("j")
    follow(visit, "/object")
    first = visit.page.url
    visit.press("l")
    follow(visit, "entity=Continent")
    # The first link leads back to the same country.
    visit.press("l", "Tab")
    follow(visit, "entity=Country")
    assert visit.page.url != first, "the same country"


@way(6, OURS, "`c`")
def _(visit):
    entity(visit, "City")
    visit.press("c")
    assert visit.page.locator("details.cost dl").first.is_visible()
    holds(visit, "examined")


@way(7, OURS, "`g`, the property")
def _(visit):
    entity(visit, "Country")
    with visit.page.expect_navigation(url=re.compile("/groups")):
        visit.press("g")
    reach(visit, "#by")
    choose(visit, "continent")
    follow(visit, "by=continent")
    assert visit.page.locator("svg.chart").is_visible()
    holds(visit, "Africa")


@way(8, OURS, "`h`")
def _(visit):
    with visit.page.expect_navigation(url=re.compile("/history")):
        visit.press("h")
    assert visit.page.locator("#transactions").count() == 1


@way(9, OURS, "`x`, the link")
def _(visit):
    entity(visit, "Country")
    visit.press("x")
    reach(visit, "a[data-format=csv]")
    save_focused(visit, 252)


@way(10, OURS, "`w`, the name, Ctrl-Enter twice")
def _(visit):
    entity(visit, "Continent")
    visit.press("j")
    follow(visit, "/object")
    with visit.page.expect_navigation(url=re.compile("/edit")):
        visit.press("w")
    reach(visit, "#" + visit.page.get_by_label(re.compile("^name ")).get_attribute("id"))
    visit.press("End")
    visit.type("X")
    with visit.page.expect_navigation():
        visit.press("Control+Enter")
    holds(visit, "Nothing is committed yet")
    with visit.page.expect_navigation(url=re.compile("/object")):
        visit.press("Control+Enter")
    assert visit.json("/rows.json", entity="Continent", filter="name ENDSWITH 'X'")


def save_focused(visit, rows):
    """Opens the focused link to a file of CSV, which must have a number of rows."""
    visit.keys += 1
    check_file(visit, visit.page.evaluate("document.activeElement.href").removeprefix(visit.server.origin), rows)


def check_file(visit, path, rows):
    _, body = answer(visit.server, path)
    found = len(list(csv.reader(io.StringIO(body.decode())))) - 1
    assert found == rows, f"{found} rows of CSV"


# MARK: The tasks in Datasette


def table(visit, name):
    """Opens the rows of a table from the first page, which links the largest tables."""
    reach(visit, f"a[href='/atlas/{name}']")
    follow(visit, f"/atlas/{name}$")


def cells(visit, column):
    return visit.page.locator(f"table.rows-and-columns td.col-{column}").all_inner_texts()


@way(1, THEIRS, "the page of the database")
def _(visit):
    reach(visit, "a[href='/atlas']")
    follow(visit, "/atlas$")
    holds(visit, "34,006 rows", "28,298 rows", "252 rows", "7 rows")


@way(2, THEIRS, "the links of the column")
def _(visit):
    table(visit, "City")
    reach(visit, "a[href$='_sort=population']")
    follow(visit, "_sort=population")
    reach(visit, "a[href$='_sort_desc=population']")
    follow(visit, "_sort_desc=population")
    assert cells(visit, "name")[0] == "Shanghai"


@way(2, THEIRS, "the address bar; pages go forward only, so the order is reversed")
def _(visit):
    table(visit, "City")
    go(visit, "/atlas/City?_sort_desc=population")
    assert cells(visit, "name")[0] == "Shanghai"


@way(3, THEIRS, "the form of filters")
def _(visit):
    table(visit, "City")
    reach(visit, "select[name=_filter_column]")
    choose(visit, "population")
    reach(visit, "select[name=_filter_op]")
    choose(visit, ">")
    reach(visit, "input[name=_filter_value]")
    visit.type("15000000")
    follow(visit, "population__gt=15000000")
    assert sorted(cells(visit, "name")) == LARGEST, cells(visit, "name")


@way(3, THEIRS, "the address bar")
def _(visit):
    table(visit, "City")
    go(visit, "/atlas/City?population__gt=15000000")
    assert sorted(cells(visit, "name")) == LARGEST, cells(visit, "name")


def continent_is_one(visit):
    values = {text.split("\xa0")[0].strip() for text in cells(visit, "continent")}
    assert len(values) == 1, values


@way(4, THEIRS, "the suggested facet, a value, which is the row id of a continent")
def _(visit):
    table(visit, "Country")
    reach(visit, "a[href*='_facet=continent']")
    follow(visit, "_facet=continent")
    reach(visit, "a[href*='&continent=']")
    follow(visit, "&continent=")
    continent_is_one(visit)


@way(4, THEIRS, "the address bar, a value")
def _(visit):
    table(visit, "Country")
    go(visit, "/atlas/Country?_facet=continent")
    reach(visit, "a[href*='&continent=']")
    follow(visit, "&continent=")
    continent_is_one(visit)


@way(4, KEYED, "the same way, and the values are the names of continents")
def _(visit):
    table(visit, "Country")
    reach(visit, "a[href*='_facet=continent']")
    follow(visit, "_facet=continent")
    reach(visit, "a[href*='&continent=']")
    assert "Africa" in visit.page.locator("a[href*='&continent=']").all_inner_texts()
    follow(visit, "&continent=")
    continent_is_one(visit)


def first_continent(visit):
    """The row id of the continent of the first country."""
    return re.search(r"\d+", cells(visit, "continent")[0])[0]


@way(5, THEIRS, "the address bar, and the form of filters, each with the row id of the continent")
def _(visit):
    table(visit, "Country")
    number = first_continent(visit)
    go(visit, f"/atlas/Continent/{number}")
    assert cells(visit, "name")
    go_back(visit)
    reach(visit, "select[name=_filter_column]")
    choose(visit, "continent")
    reach(visit, "input[name=_filter_value]")
    visit.type(number)
    follow(visit, "continent__exact=|continent=")
    continent_is_one(visit)


@way(5, THEIRS, "the address bar twice")
def _(visit):
    table(visit, "Country")
    number = first_continent(visit)
    go(visit, f"/atlas/Continent/{number}")
    assert cells(visit, "name")
    go_back(visit)
    go(visit, f"/atlas/Country?continent={number}")
    continent_is_one(visit)


@way(5, KEYED, "the links of the value and of the row")
def _(visit):
    table(visit, "Country")
    reach(visit, "td a[href^='/atlas/Continent/']")
    follow(visit, "/atlas/Continent/")
    reach(visit, "a[href*='/atlas/Country?continent']")
    follow(visit, "/atlas/Country.continent")
    continent_is_one(visit)


@way(5, KEYED, "the address bar, and the link of the row")
def _(visit):
    table(visit, "Country")
    go(visit, f"/atlas/Continent/{first_continent(visit)}")
    reach(visit, "a[href*='/atlas/Country?continent']")
    follow(visit, "/atlas/Country.continent")
    continent_is_one(visit)


@way(6, THEIRS, "`explain query plan` in the SQL editor")
def _(visit):
    table(visit, "City")
    reach(visit, "a[href^='/atlas?sql=']")
    follow(visit, "sql=")
    reach(visit, "textarea, .cm-content")
    visit.type("explain query plan ")
    with visit.page.expect_navigation(url=re.compile("explain")):
        visit.press("Shift+Enter")
    holds(visit, "SCAN City")


@way(9, THEIRS, "the link, which has at most 1,000 rows; the form of exports and the address bar lead to all")
def _(visit):
    table(visit, "Country")
    reach(visit, "a[href*='Country.csv']")
    save_focused(visit, 252)


@way(9, THEIRS, "the address bar")
def _(visit):
    table(visit, "Country")
    visit.keys += keys_of_address(visit, "/atlas/Country.csv?_stream=on")
    check_file(visit, "/atlas/Country.csv?_stream=on", 252)


# MARK: Times

# The pages that both programs have, with 50 rows.
PAGES = [
    ("the entities or tables with their counts", "/", "/atlas"),
    ("the first cities", "/rows?entity=City", "/atlas/City?_size=50"),
    ("cities by population, from the greatest", "/rows?entity=City&order=-population", "/atlas/City?_size=50&_sort_desc=population"),
    ("cities of more than 15,000,000 people", "/rows?entity=City&filter=population%3E15000000", "/atlas/City?_size=50&population__gt=15000000"),
    ("countries with the counts of continents", "/rows?entity=Country&facet=continent", "/atlas/Country?_size=50&_facet=continent"),
    ("a city", "/object?entity=City&id=1", "/atlas/City/1"),
    ("all cities as CSV", "/rows.csv?entity=City", "/atlas/City.csv?_stream=on"),
]


def answer(server, path):
    """Returns the milliseconds until the last byte of an answer, and its body."""
    connection = http.client.HTTPConnection(server.netloc, timeout=300)
    connection.connect()
    began = time.perf_counter()
    connection.request("GET", path, headers=server.headers)
    response = connection.getresponse()
    body = response.read()
    elapsed = (time.perf_counter() - began) * 1000
    connection.close()
    assert response.status == 200, f"{path}: {response.status}"
    return elapsed, body


def median(server, path, requests):
    """Returns the median time of a page, with the events that complete it."""
    _, body = answer(server, path)
    events = re.search(rb'data-events="([^"]+)"', body)
    times = []
    for _ in range(requests):
        elapsed, _ = answer(server, path)
        if events:
            elapsed += answer(server, events[1].decode().replace("&amp;", "&"))[0]
        times.append(elapsed)
    return statistics.median(times)


def print_times(ours, theirs, requests):
    """Prints the times of the pages that both programs have."""
    print(f"\nMilliseconds from a request to the last byte of its answer, medians of {requests}, in pages of 50 rows. Datasette is also measured without the facets that it suggests (`_nosuggest`).\n")
    print("| page | polystore | Datasette | Datasette, no suggestions |\n|---|---|---|---|")
    for text, path, other in PAGES:
        is_table = "?_size" in other
        plain = f"{median(theirs, other + '&_nosuggest=1', requests):.1f}" if is_table else ""
        print(f"| {text} | {median(ours, path, requests):.1f} | {median(theirs, other, requests):.1f} | {plain} |", flush=True)


# MARK: The run


def keys(chosen, server, browser):
    """Performs a task in a context of its own, and returns the number of keys."""
    from behaviour import Visit

    context = browser.new_context()
    try:
        visit = Visit(server, context, None)
        visit.enter()
        chosen.function(visit)
        return visit.keys
    finally:
        context.close()


def sentence(text):
    return text[0].upper() + text[1:] + "."


def print_keys(servers, browser, wanted):
    """Performs each way of the tasks, and prints the shortest of each task."""
    counts = {}
    for item in WAYS:
        if not re.fullmatch(wanted, str(item.task)):
            continue
        server = servers["writable" if item.program == OURS and item.task == 10 else item.program]
        found = keys(item, server, browser)
        print(f"{item.program}, task {item.task}: {found} keys, {item.text}", file=sys.stderr, flush=True)
        counts.setdefault((item.task, item.program), []).append((found, item.text))
    print("| | task | polystore | | Datasette | |\n|---|---|---|---|---|---|")
    for task in (task for task in TASKS if (task, OURS) in counts):
        ours, theirs, keyed = (min(counts[task, program]) if (task, program) in counts else None for program in (OURS, THEIRS, KEYED))
        parts = [sentence(theirs[1]) if theirs and task not in MISSING else "", MISSING.get(task, "")]
        if keyed:
            parts.append(f"With declared foreign keys {keyed[0]}: {keyed[1]}.")
        number = "–" if not theirs else f"{theirs[0]}, in part" if task in MISSING else theirs[0]
        print(f"| {task} | {TASKS[task]} | {ours[0]} | {ours[1]} | {number} | {' '.join(part for part in parts if part)} |")


def main():
    if "--help" in sys.argv:
        sys.exit(print(__doc__))
    parser = argparse.ArgumentParser()
    parser.add_argument("store", type=pathlib.Path)
    parser.add_argument("--tool", type=pathlib.Path)
    parser.add_argument("--requests", type=int, default=30)
    parser.add_argument("--no-times", action="store_true")
    parser.add_argument("--only", default=r"\d+")
    options = parser.parse_args()
    installation.PACKAGES = [*installation.PACKAGES, f"datasette=={VERSION}"]
    installation.FOLDER = ROOT / ".build/datasette-python"
    sys.argv[0] = str(pathlib.Path(__file__).resolve())
    reason = installation.prepare()
    if reason:
        sys.exit(print(f"Nothing was measured: {reason}"))
    tool = options.tool or next((path for kind in ("release", "debug") if (path := ROOT / f".build/{kind}/polystore").exists()), None)
    if not tool:
        sys.exit(print("Nothing was measured: polystore is not built. Name the program with --tool."))
    # The module reads the variable when it is imported.
    os.environ["POLYSTORE_BROWSER_TOOL"] = str(tool)
    measure(options)


def measure(options):
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        plain, declared, writable = (
            copied(options.store, folder / kind, foreign_keys=kind == "declared") for kind in ("plain", "declared", "writable"))
        servers = {}
        for key, start in {
            OURS: lambda: browser_server(plain), "writable": lambda: browser_server(writable, write=True),
            THEIRS: lambda: Datasette(plain), KEYED: lambda: Datasette(declared),
        }.items():
            servers[key] = start()
            stack.callback(servers[key].stop)
        with sync_playwright() as playwright:
            # As root, Chromium runs only without its sandbox.
            browser = playwright.chromium.launch(executable_path=installation.chromium(), args=["--no-sandbox"])
            print_keys(servers, browser, options.only)
            browser.close()
        if not options.no_times:
            print_times(servers[OURS], servers[THEIRS], options.requests)


if __name__ == "__main__":
    main()
