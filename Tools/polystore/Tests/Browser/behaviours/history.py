"""The recorded history, and what changes while a page is open."""
import json

from behaviour import behaviour, expect
from servers import tool


def commit(visit, entity, *records, **record):
    """Commits records in one transaction of another process."""
    lines = "\n".join(map(json.dumps, records or [record]))
    tool("import", visit.server.store, entity, "-", "--format", "jsonl", input=lines)


@behaviour("history.list", "The history lists transactions with the objects that they changed.")
def _(visit):
    visit.open("/history")
    expect(visit.page.locator("#transactions > li")).to_have_count(1)
    expect(visit.page.locator("#transactions > li").first).to_contain_text("insert")


@behaviour("history.live", "A transaction of another process appears while the page is open.", write=True)
def _(visit):
    visit.open("/history")
    expect(visit.page.locator("#transactions > li")).to_have_count(1)
    commit(visit, "Author", name="Newcomer")
    expect(visit.page.locator("#transactions > li").first).to_contain_text("Newcomer")
    expect(visit.page.locator("#live-status")).to_be_visible()


def set_hidden(visit, hidden):
    """Tells the page that its tab is hidden or shown."""
    visit.page.evaluate(
        "(hidden) => { Object.defineProperty(document, 'hidden', { get: () => hidden, configurable: true });"
        " document.dispatchEvent(new Event('visibilitychange')); }", hidden)


@behaviour("history.hidden", "A page that was hidden shows what was committed meanwhile, once.", write=True)
def _(visit):
    visit.open("/history")
    commit(visit, "Author", name="First")
    expect(visit.page.locator("#transactions > li")).to_have_count(2)
    set_hidden(visit, True)
    commit(visit, "Author", name="Second")
    set_hidden(visit, False)
    expect(visit.page.locator("#transactions > li").first).to_contain_text("Second")
    expect(visit.page.locator("#transactions > li")).to_have_count(3)


@behaviour("history.rows", "A row whose object changes says so.", write=True)
def _(visit):
    visit.open("/rows", entity="Author", order="name")
    expect(visit.page.locator("#rows tbody tr")).to_have_count(12)
    commit(visit, "Author", name="Author 1", rating=9)
    expect(visit.page.locator("#rows tr.changed")).to_have_count(1)
    expect(visit.page.locator("#rows tr.changed")).to_contain_text("Author 1")
    expect(visit.page.get_by_role("status").filter(has_text="changed")).to_be_visible()


@behaviour("history.bulk", "A row whose object changes late in a large transaction says so.", write=True)
def _(visit):
    visit.open("/rows", entity="Author", filter="name == 'Author 1'")
    expect(visit.page.locator("#rows tbody tr")).to_have_count(1)
    commit(visit, "Author", *[{"name": f"New {number}"} for number in range(300)], {"name": "Author 1", "rating": 9})
    expect(visit.page.locator("#rows tr.changed")).to_have_count(1)
    expect(visit.page.get_by_role("status").filter(has_text="1 of the objects on this page changed")).to_be_visible()


@behaviour("history.further", "A page says that it may show objects of a transaction that is too large to name them all.", write=True)
def _(visit):
    visit.open("/rows", entity="Author", filter="name == 'Author 1'")
    expect(visit.page.locator("#rows tbody tr")).to_have_count(1)
    commit(visit, "Author", *[{"name": f"New {number}"} for number in range(10_001)])
    expect(visit.page.get_by_role("status").filter(has_text="10001 objects changed")).to_be_visible()
    expect(visit.page.locator("#rows tr.changed")).to_have_count(0)


@behaviour("history.object", "The history of an object has its transactions only.", write=True)
def _(visit):
    commit(visit, "Author", name="Author 1", rating=9)
    visit.open("/rows", entity="Author", filter="name == 'Author 1'")
    visit.page.locator("#rows tbody th a").click()
    visit.page.get_by_role("link", name="History of this object").click()
    expect(visit.page.locator("#transactions > li")).to_have_count(2)
    visit.open("/rows", entity="Author", filter="name == 'Author 2'")
    visit.page.locator("#rows tbody th a").click()
    visit.page.get_by_role("link", name="History of this object").click()
    expect(visit.page.locator("#transactions > li")).to_have_count(1)


@behaviour("history.none", "A store without a history says so.", store="atlas")
def _(visit):
    visit.open("/history")
    expect(visit.page.locator("#transactions > li")).to_have_count(0)
    expect(visit.page.locator("main")).to_contain_text("history")
