"""The table of behaviours, and what a test of one is given."""
import dataclasses
import json
import os
import pathlib
import re
import http.client
import urllib.parse

from playwright.sync_api import expect

FOLDER = pathlib.Path(__file__).resolve().parent
TABLE = []
# The limit of a wait in seconds. It is for machines under load; a defect waits as long, so give a shorter one while you write a test.
LIMIT = int(os.environ.get("POLYSTORE_BROWSER_LIMIT", "120"))


@dataclasses.dataclass
class Behaviour:
    """A sentence about the browser, and the function that checks it.

    store       the name of the store that the server opens
    write       whether the server can change the store, which is then a copy
    options     the options of the browser's context, such as `color_scheme`
    failures    whether the pages may report failed requests, because the test provokes some
    """

    id: str
    sentence: str
    function: object
    store: str = "library"
    write: bool = False
    options: dict = dataclasses.field(default_factory=dict)
    failures: bool = False


def behaviour(id, sentence, store="library", write=False, failures=False, **options):
    """Adds a function to the table."""

    def add(function):
        TABLE.append(Behaviour(id, sentence, function, store, write, options, failures))
        return function

    return add


def address(path, **items):
    """Returns the address of a view. An item with a list of values occurs once for each."""
    query = urllib.parse.urlencode(items, doseq=True, quote_via=urllib.parse.quote)
    return f"{path}?{query}" if query else path


class Visit:
    """A page of a server in a context of its own."""

    def __init__(self, server, context, run):
        self.server, self.context, self.run = server, context, run
        self.problems, self.keys = [], 0
        self.page = self.watched(context.new_page())

    def watched(self, page):
        """Returns a page whose errors, dialogs and requests of other servers are recorded as problems."""
        page.set_default_timeout(LIMIT * 1000)
        page.on("pageerror", lambda error: self.problems.append(f"script error: {error}"))
        page.on("console", lambda message: message.type == "error" and self.problems.append(f"console: {message.text}"))
        page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", self.check)
        return page

    def check(self, request):
        if not request.url.startswith((self.server.origin + "/", "data:", "about:", "blob:")):
            self.problems.append(f"request of another server: {request.url[:200]}")

    def enter(self):
        """Opens the printed address."""
        self.page.goto(self.server.address)
        return self

    def open(self, path="/", **items):
        """Opens a view."""
        return self.page.goto(self.server.origin + address(path, **items))

    @property
    def path(self):
        """The path of the view with its query."""
        parts = urllib.parse.urlsplit(self.page.url)
        return parts.path + (f"?{parts.query}" if parts.query else "")

    @property
    def query(self):
        return urllib.parse.parse_qs(urllib.parse.urlsplit(self.page.url).query)

    def press(self, *keys):
        """Presses keys one after the other, and counts them."""
        for key in keys:
            self.page.keyboard.press(key)
            self.keys += 1

    def type(self, text):
        """Types a text, of which each character is a key."""
        self.page.keyboard.type(text)
        self.keys += len(text)

    def names(self):
        """The names of the objects in the table of rows."""
        return self.page.locator("#rows tbody th").all_inner_texts()

    def column(self, name):
        """The texts of a column of the table of rows."""
        heads = [text.strip() for text in self.page.locator("#rows thead th").all_inner_texts()]
        position = next(index for index, text in enumerate(heads) if text.split(" ")[0] == name)
        return [row.locator("th, td").nth(position).inner_text().strip() for row in self.page.locator("#rows tbody tr").all()]

    def harmed(self):
        """Whether a script of a value or a name ran in any page."""
        return any(page.evaluate("window.harmed === 1") for page in self.context.pages)

    def audit(self, where):
        """Fails if axe finds a violation on the page."""
        results = self.run.axe.run(self.page).response
        found = [f"{item['id']}: {item['help']}: " + "; ".join(str(node["target"]) + " " + node["html"][:120] for node in item["nodes"][:3])
                 for item in results["violations"]]
        assert not found, f"axe on {where}:\n  " + "\n  ".join(found)

    def request(self, path, method="GET", headers=None, token=True, body=None):
        """Sends a request outside of the browser. Returns the status, the headers and the body."""
        parts = self.server.parts
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
        headers = dict(headers or {})
        if token:
            headers.setdefault("Authorization", f"Bearer {self.server.token}")
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None:
            connection.putheader("Content-Length", str(len(body)))
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, content

    def json(self, path, **items):
        status, _, body = self.request(address(path, **items))
        assert status == 200, f"{path}: {status}: {body[:300]}"
        return json.loads(body)

    def snapshot(self, name, locator="body"):
        """Compares the accessibility tree of a part of the page with a file."""
        text = self.page.locator(locator).aria_snapshot() + "\n"
        for pattern, replacement in MASKS:
            text = re.sub(pattern, replacement, text)
        file = FOLDER / "snapshots" / f"{name}.txt"
        if self.run.writes:
            file.write_text(text)
        expected = file.read_text() if file.exists() else ""
        if text != expected:
            new, old = text.splitlines(), expected.splitlines()
            index = next((i for i, pair in enumerate(zip(new, old)) if pair[0] != pair[1]), min(len(new), len(old)))
            raise AssertionError(
                f"the accessibility tree differs from snapshots/{name}.txt in line {index + 1}; --write writes it\n"
                f"  expected: {old[index] if index < len(old) else '(end)'}\n  found:    {new[index] if index < len(new) else '(end)'}")

    def shot(self, name):
        """Saves a screenshot."""
        self.page.screenshot(path=self.run.shots / f"{name}.png", full_page=True)


# What differs from run to run.
MASKS = [
    (r"\b[0-9][0-9.,]* ?(µs|ms|s)\b", "TIME"), (r"\b20[2-9]\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?( ?UTC|Z)?", "DATE"),
    (r"127\.0\.0\.1:\d+", "ADDRESS"), (r"(?<=\")/[^\"]*/(?=\w+\.db)", "FOLDER/"),
]

__all__ = ["Behaviour", "Visit", "TABLE", "address", "behaviour", "expect"]
