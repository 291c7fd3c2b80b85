"""Colours, narrow windows, directions of texts, and pages without scripts."""
from behaviour import behaviour, expect

PAGES = {
    "entities": ("/", {}), "rows": ("/rows", {"entity": "Book", "facet": "publisher"}), "groups": ("/groups", {"entity": "Book", "by": "publisher"}),
    "line": ("/groups", {"entity": "Book", "by": "published", "chart": "line"}), "history": ("/history", {}),
    "object": ("/object", {"entity": "Publisher", "id": "1"}),
}


def pictures(visit, kind):
    for name, (path, items) in PAGES.items():
        visit.open(path, **items)
        visit.page.wait_for_load_state("load")
        yield name
        visit.shot(f"{name}-{kind}")


@behaviour("layout.light", "Pages are light where the system is.", color_scheme="light", viewport={"width": 1280, "height": 800})
def _(visit):
    for _ in pictures(visit, "light"):
        assert brightness(visit) > 200


@behaviour("layout.dark", "Pages are dark where the system is.", color_scheme="dark", viewport={"width": 1280, "height": 800})
def _(visit):
    for _ in pictures(visit, "dark"):
        assert brightness(visit) < 60


def brightness(visit):
    """The brightness of the background, from 0 to 255."""
    colour = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(map(int, colour.removeprefix("rgb(").removesuffix(")").split(","))) / 3


@behaviour("layout.narrow", "At a width of 400 pixels, no page is wider than the window.", viewport={"width": 400, "height": 800})
def _(visit):
    for name in pictures(visit, "narrow"):
        width = visit.page.evaluate("document.documentElement.scrollWidth")
        assert width <= 400, f"{name} is {width} pixels wide"


@behaviour("layout.zoom", "At 200 % of the size of texts, nothing is cut.", viewport={"width": 640, "height": 800})
def _(visit):
    visit.open("/rows", entity="Book")
    visit.page.evaluate("document.documentElement.style.fontSize = '32px'")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 640
    expect(visit.page.get_by_role("heading", level=1)).to_be_in_viewport()


@behaviour("layout.direction", "A text from right to left is laid out so, and the page is not.")
def _(visit):
    visit.open("/rows", entity="Author", filter="name == 'עמוס עוז'")
    direction = visit.page.locator("#rows tbody th a").evaluate("element => getComputedStyle(element).direction")
    assert direction == "rtl"
    assert visit.page.evaluate("getComputedStyle(document.body).direction") == "ltr"


@behaviour("layout.scripts", "Pages, conditions and facets work without scripts.", java_script_enabled=False)
def _(visit):
    visit.open("/rows", entity="Book")
    visit.page.locator("#filter").fill("pages > 700")
    visit.page.locator("#filter").press("Enter")
    visit.page.wait_for_url("**filter=**")
    visit.open("/rows", entity="Book", facet="publisher")
    expect(visit.page.locator("#facets")).to_be_visible()


@behaviour("layout.motion", "Nothing moves where the system asks for reduced motion.", reduced_motion="reduce")
def _(visit):
    visit.open("/rows", entity="Author")
    durations = visit.page.evaluate("[...document.querySelectorAll('*')].map(e => getComputedStyle(e).transitionDuration)")
    assert set(durations) == {"0s"}, set(durations)
