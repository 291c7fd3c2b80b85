"""An audit of each main page with axe, in light and dark."""
from behaviour import behaviour

PAGES = {
    "entities": ("/", {}), "rows": ("/rows", {"entity": "Book", "facet": "publisher"}), "order": ("/rows", {"entity": "Author", "order": "-name"}),
    "groups": ("/groups", {"entity": "Book", "by": "publisher"}), "line": ("/groups", {"entity": "Book", "by": "published", "chart": "line"}),
    "history": ("/history", {}), "object": ("/object", {"entity": "Publisher", "id": "1"}), "mistake": ("/rows", {"entity": "Book", "filter": "pages >"}),
    "missing": ("/object", {"entity": "Book", "id": "99999"}),
}


def audit(visit):
    for name, (path, items) in PAGES.items():
        visit.open(path, **items)
        visit.page.wait_for_load_state("load")
        visit.audit(name)
    visit.open("/")
    visit.press("?")
    visit.audit("keys")


@behaviour("audit.light", "axe finds no violation on the main pages in light.", failures=True, color_scheme="light")
def _(visit):
    audit(visit)


@behaviour("audit.dark", "axe finds no violation on the main pages in dark.", failures=True, color_scheme="dark")
def _(visit):
    audit(visit)


@behaviour("audit.narrow", "axe finds no violation at a width of 400 pixels.", failures=True, viewport={"width": 400, "height": 800})
def _(visit):
    audit(visit)


@behaviour("audit.hostile", "axe finds no violation on the pages of a store with odd names.", store="hostile")
def _(visit):
    for path, items in (("/", {}), ("/rows", {"entity": "<script>window.harmed=1</script>"}), ("/object", {"entity": "<script>window.harmed=1</script>", "id": "1"}),
                        ("/object", {"entity": "Wide", "id": "1"})):
        visit.open(path, **items)
        visit.audit(path)
