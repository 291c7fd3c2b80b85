"""Rows: pages, order, columns, and the address of a view."""
import csv
import io
import json
import re

from behaviour import behaviour, expect

# The names of the keys of the pager.
FIRST, PREVIOUS, NEXT, LAST = "[", "p", "n", "]"


def turn(visit, key):
    """Follows a link of the pager."""
    with visit.page.expect_navigation():
        visit.page.locator(f'.pager a[data-key="{key}"]').click()


@behaviour("rows.pages", "Next and previous lead through all rows, and back to the same rows.")
def _(visit):
    visit.open("/rows", entity="Book", size="100")
    pages = [visit.names()]
    while visit.page.locator(f'.pager a[data-key="{NEXT}"]').count():
        turn(visit, NEXT)
        pages.append(visit.names())
    assert [len(page) for page in pages] == [100, 100, 40], [len(page) for page in pages]
    assert len({name for page in pages for name in page}) > 10
    turn(visit, PREVIOUS)
    assert visit.names() == pages[1]


@behaviour("rows.last", "Last leads to the last rows in the order, and first back to the first.")
def _(visit):
    visit.open("/rows", entity="Book", order="pages", size="25")
    first = visit.column("pages")
    turn(visit, LAST)
    last = visit.column("pages")
    assert max(map(int, first)) < min(map(int, last)), (first, last)
    assert last == sorted(last, key=int)
    turn(visit, FIRST)
    assert visit.column("pages") == first


@behaviour("rows.order", "A click on a column orders by it, and another one reverses the order.")
def _(visit):
    visit.open("/rows", entity="Book")
    for direction in ("ascending", "descending"):
        with visit.page.expect_navigation():
            visit.page.locator("#rows thead").get_by_role("link", name=re.compile("^pages")).click()
        head = visit.page.locator("#rows thead th[aria-sort]")
        assert head.get_attribute("aria-sort") == direction and head.inner_text().startswith("pages")
        values = list(map(int, visit.column("pages")))
        assert values == sorted(values, reverse=direction == "descending"), values


@behaviour("rows.columns", "The chosen columns are shown in the order of the choice, and are part of the address.")
def _(visit):
    visit.open("/rows", entity="Author")
    visit.page.locator("#columns summary").click()
    for name in ("born", "alive"):
        visit.page.locator(f'#columns input[value="{name}"]').uncheck()
    with visit.page.expect_navigation():
        visit.page.locator("#query button").filter(has_text="Show").click()
    heads = [text.strip() for text in visit.page.locator("#rows thead th").all_inner_texts()]
    assert "name" in heads and "born" not in heads and "alive" not in heads, heads
    assert "column=name" in visit.path


@behaviour("rows.form", "The form keeps the order, the columns and the size of an address, also those that it does not offer.")
def _(visit):
    columns = ["publisher.name", "pages * 2 as double", "title"]
    visit.open("/rows", entity="Book", order="publisher.name", column=columns, size="10")
    before = visit.names()
    visit.page.locator("#columns summary").click()
    visit.page.locator('#columns input[value="code"]').check()
    with visit.page.expect_navigation():
        visit.page.locator("#query button").filter(has_text="Show").click()
    assert visit.query["column"] == columns + ["code"] and visit.query["order"] == ["publisher.name"] and visit.query["size"] == ["10"]
    assert visit.names() == before and len(before) == 10
    visit.audit("rows with columns of its own")


@behaviour("rows.all-columns", "If all columns are checked, the address has none, unless they are in an order of its own.")
def _(visit):
    for columns, expected in ((["name", "rating"], None), (["rating", "name"], "rating")):
        visit.open("/rows", entity="Author", column=columns)
        visit.page.locator("#columns summary").click()
        for box in visit.page.locator("#columns input").all():
            box.check()
        with visit.page.expect_navigation():
            visit.page.locator("#query button").filter(has_text="Show").click()
        assert visit.query.get("column", [None])[0] == expected, visit.query


@behaviour("rows.all", "Every page leads to all rows as CSV.")
def _(visit):
    visit.open("/rows", entity="Book", order="pages", size="100", page="last")
    link = visit.page.locator('#formats a[data-format="csv"]').get_attribute("href")
    _, _, body = visit.request(link)
    assert len(list(csv.DictReader(io.StringIO(body.decode())))) == 240


@behaviour("rows.address", "The address of a view shows the same view in another window.")
def _(visit):
    visit.open("/rows", entity="Book", filter="pages > 500", order="-pages", size="25")
    names, path = visit.names(), visit.path
    turn(visit, NEXT)
    second, path = visit.names(), visit.path
    assert names != second
    other = visit.watched(visit.context.new_page())
    other.goto(visit.server.origin + path)
    assert other.locator("#rows tbody th").all_inner_texts() == second


@behaviour("rows.none", "An entity without objects says so.")
def _(visit):
    visit.open("/rows", entity="Note")
    expect(visit.page.locator("#count")).to_contain_text("No rows.")
    expect(visit.page.locator("#rows tbody tr")).to_have_count(0)


@behaviour("rows.null", "A missing value is marked, so that it differs from an empty text.")
def _(visit):
    visit.open("/rows", entity="Author", filter="rating == nil")
    expect(visit.page.locator("#rows .null")).to_have_text(["null"])


@behaviour("rows.subentity", "The rows of a subentity are its own objects.")
def _(visit):
    visit.open("/rows", entity="Magazine")
    assert len(visit.names()) == 8
    visit.snapshot("rows", "main")


@behaviour("rows.names", "Related objects appear under their names.")
def _(visit):
    visit.open("/rows", entity="Book", column=["title", "publisher"], size="25")
    assert set(visit.column("publisher")) <= {"Harbour Press", "Nordlicht", "دار النشر"}, visit.column("publisher")


@behaviour("rows.image", "Bytes that are an image are shown as one, with a text instead of it.")
def _(visit):
    visit.open("/rows", entity="Book", filter="cover != nil")
    image = visit.page.locator("#rows img")
    expect(image).to_have_count(1)
    expect(image).to_have_attribute("alt", re.compile("."))
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1


@behaviour("rows.json", "The view in JSON has the rows in the order of the page.")
def _(visit):
    visit.open("/rows", entity="Author", order="name")
    link = visit.page.locator('#formats a[data-format="json"]').get_attribute("href")
    status, headers, body = visit.request(link)
    assert status == 200 and headers["content-type"].startswith("application/json"), (status, headers)
    assert "Author 0" in json.dumps(json.loads(body))


@behaviour("rows.csv", "The view in CSV has all rows that satisfy the condition.")
def _(visit):
    visit.open("/rows", entity="Book", filter="pages > 400", size="25")
    link = visit.page.locator('#formats a[data-format="csv"]').get_attribute("href")
    status, headers, body = visit.request(link)
    assert status == 200 and headers["content-type"].startswith("text/csv"), (status, headers)
    rows = list(csv.DictReader(io.StringIO(body.decode())))
    assert len(rows) > 25 and all(int(row["pages"]) > 400 for row in rows), len(rows)


@behaviour("rows.missing", "An entity that the store does not have gives a page that says so.", failures=True)
def _(visit):
    assert visit.open("/rows", entity="Absent").status in (400, 404)
    expect(visit.page.get_by_role("alert")).to_contain_text("Absent")
