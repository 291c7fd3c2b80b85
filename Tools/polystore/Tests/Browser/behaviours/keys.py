"""The keyboard: single keys, and each of the ten tasks without a mouse."""
import csv
import io
import re

from behaviour import behaviour, expect


def settled(visit, path):
    """Waits for a view whose address has a path."""
    visit.page.wait_for_url(re.compile(re.escape(visit.server.origin + path)))
    visit.page.wait_for_load_state()


@behaviour("keys.help", "A question mark shows the keys, and Escape hides them.")
def _(visit):
    visit.press("?")
    expect(visit.page.get_by_role("dialog")).to_be_visible()
    visit.snapshot("keys", "#help")
    visit.press("Escape")
    expect(visit.page.get_by_role("dialog")).to_be_hidden()


@behaviour("keys.fields", "In a field, keys are text.")
def _(visit):
    visit.open("/rows", entity="Book")
    visit.page.locator("#filter").click()
    visit.type("gehx?")
    expect(visit.page.locator("#filter")).to_have_value("gehx?")
    expect(visit.page.get_by_role("dialog")).to_be_hidden()


@behaviour("keys.off", "Single keys can be turned off, for speech input.")
def _(visit):
    visit.press("?")
    visit.page.locator("#keys-enabled").uncheck()
    visit.press("Escape", "h")
    assert visit.path == "/", visit.path
    visit.page.locator("#help-button").click()
    visit.page.locator("#keys-enabled").check()


@behaviour("keys.rows", "j and k move through the rows, and Enter opens one.")
def _(visit):
    visit.open("/rows", entity="Author", order="name")
    visit.press("j", "j", "k", "Enter")
    settled(visit, "/object")
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Author 0")


@behaviour("keys.skip", "The first tab stop skips the head of the page.")
def _(visit):
    visit.press("Tab")
    expect(visit.page.get_by_text("Skip to the content")).to_be_focused()
    visit.press("Enter")
    expect(visit.page.locator("#content")).to_be_focused()


# The ten tasks. Each begins at the first page, uses no mouse, and is timed in keys.


def entity(visit, name):
    """Opens the rows of an entity from the first page."""
    links = visit.page.locator("#entities tbody th a")
    position = [text.strip() for text in links.all_inner_texts()].index(name)
    visit.press(*["j"] * (position + 1), "Enter")
    settled(visit, "/rows")


def note(visit, number, task):
    visit.run.note(f"task {number:2}  {visit.keys:3} keys  {task}")


@behaviour("task.01", "By keyboard: find the number of books, and the diagram.")
def _(visit):
    visit.press("d")
    expect(visit.page.locator("#diagram")).to_be_focused()
    note(visit, 1, "the counts of entities and the diagram")


@behaviour("task.02", "By keyboard: order books by pages, and read the last page.")
def _(visit):
    entity(visit, "Book")
    visit.press("o")
    expect(visit.page.locator("#columns input").first).to_be_focused()
    while visit.page.evaluate("document.activeElement.id") != "order":
        visit.press("Tab")
    visit.type("pages")
    visit.press("Enter")
    visit.page.wait_for_url(re.compile("order="))
    visit.press("]")
    visit.page.wait_for_function("document.querySelectorAll('#rows tbody tr').length > 0")
    note(visit, 2, "rows in an order, and the last page")


@behaviour("task.03", "By keyboard: find the books of more than 770 pages.")
def _(visit):
    entity(visit, "Book")
    visit.press("/")
    visit.type("pages > 770")
    visit.press("Enter")
    visit.page.wait_for_url(re.compile("filter="))
    assert all(int(pages) > 770 for pages in visit.page.locator("#rows tbody tr").count() and visit.column("pages"))
    note(visit, 3, "rows of a condition (11 of them are its text)")


@behaviour("task.04", "By keyboard: count books by publisher, and open those of one.")
def _(visit):
    entity(visit, "Book")
    visit.press("f")
    visit.type("publisher")
    visit.press("Enter")
    visit.page.wait_for_url(re.compile("facet=publisher"))
    expect(visit.page.locator("#facet-values a").first).to_be_visible()
    visit.press("f", "Tab", "Tab", "Enter")
    visit.page.wait_for_url(re.compile("filter="))
    note(visit, 4, "a facet and the rows of a value (9 of them are the name)")


@behaviour("task.05", "By keyboard: go from a book to its author, and to another book of the author.")
def _(visit):
    entity(visit, "Book")
    visit.press("j", "Enter")
    settled(visit, "/object")
    visit.press("l", "Enter")
    visit.page.wait_for_url(re.compile("entity=(Author|Publisher)"))
    visit.press("l", "Enter")
    visit.page.wait_for_url(re.compile("entity=(Book|Publication)"))
    note(visit, 5, "along a relationship and back")


@behaviour("task.06", "By keyboard: read what a view costs.")
def _(visit):
    entity(visit, "Book")
    visit.press("c")
    expect(visit.page.locator("details.cost dl").first).to_be_visible()
    note(visit, 6, "what a view costs")


@behaviour("task.07", "By keyboard: a chart of books by publisher.")
def _(visit):
    entity(visit, "Book")
    visit.press("g")
    settled(visit, "/groups")
    while visit.page.evaluate("document.activeElement.id") != "by":
        visit.press("Tab")
    visit.type("publisher")
    visit.press("Enter")
    visit.page.wait_for_url(re.compile("by=publisher"))
    expect(visit.page.locator("svg.chart")).to_be_visible()
    note(visit, 7, "a chart of groups (9 of them are the name)")


@behaviour("task.08", "By keyboard: read the latest transaction.")
def _(visit):
    visit.press("h")
    settled(visit, "/history")
    expect(visit.page.locator("#transactions > li").first).to_be_visible()
    note(visit, 8, "the history")


@behaviour("task.09", "By keyboard: save the view as CSV.")
def _(visit):
    entity(visit, "Book")
    visit.press("x", "Tab", "Tab")
    link = visit.page.evaluate("document.activeElement.href")
    assert "csv" in link, link
    # A page of CSV is saved, or shown as text.
    status, _, body = visit.request(link.removeprefix(visit.server.origin))
    visit.keys += 1
    assert status == 200 and len(list(csv.reader(io.StringIO(body.decode())))) == 241
    note(visit, 9, "the view as CSV")
