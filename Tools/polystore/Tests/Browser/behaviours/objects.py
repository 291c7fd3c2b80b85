"""An object: its values, and links in both directions."""
import re

from behaviour import behaviour, expect


def book(visit, code):
    """Opens the page of a book."""
    visit.open("/rows", entity="Book", filter=f"code == '{code}'")
    visit.page.locator("#rows tbody th a").click()
    expect(visit.page.locator("#links")).to_be_visible()


@behaviour("object.values", "The page of an object has each property with its type and value.")
def _(visit):
    book(visit, "B2")
    values = visit.page.locator(".values")
    expect(values).to_contain_text("code")
    expect(values).to_contain_text("B2")
    expect(values).to_contain_text(re.compile("string"))
    visit.snapshot("object", "main")


@behaviour("object.links", "Links appear under the names of the related objects, with counts.")
def _(visit):
    book(visit, "B2")
    expect(visit.page.locator("#links").get_by_role("link", name="دار النشر")).to_be_visible()
    authors = visit.page.locator("#links section").filter(has=visit.page.get_by_role("heading", name="authors"))
    expect(authors.locator("li")).to_have_count(2)
    expect(authors.locator("h3 .number")).to_contain_text("2")


@behaviour("object.back", "A link leads to the other object, and from there back.")
def _(visit):
    book(visit, "B2")
    title = visit.page.get_by_role("heading", level=1).inner_text()
    visit.page.locator("#links").get_by_role("link", name="Author 2", exact=True).click()
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Author 2")
    visit.page.locator("#links a").filter(has_text=title).first.click()
    expect(visit.page.get_by_role("heading", level=1)).to_have_text(title)


@behaviour("object.many", "A relationship to many objects shows some, and leads to all of them.")
def _(visit):
    visit.open("/rows", entity="Publisher", filter="name == 'Nordlicht'")
    visit.page.locator("#rows tbody th a").click()
    section = visit.page.locator("#links section").filter(has_text="publications")
    expect(section.locator("h3 .number")).to_contain_text("80")
    section.get_by_role("link", name=re.compile("All")).click()
    visit.page.get_by_role("link", name="Count all").click()
    expect(visit.page.locator("#count")).to_contain_text("80")


@behaviour("object.missing", "An object that does not exist gives a page that says so.", failures=True)
def _(visit):
    assert visit.open("/object", entity="Author", id="99999").status == 404
    expect(visit.page.get_by_role("alert")).to_contain_text("99999")


@behaviour("object.long", "A long text is cut, and a link leads to the whole.", store="hostile")
def _(visit):
    visit.open("/rows", entity="Large")
    assert len(visit.page.content()) < 200_000, len(visit.page.content())
    link = visit.page.locator("#rows tbody tr").first.locator("a.whole").first
    status, headers, body = visit.request(link.get_attribute("href"))
    assert status == 200 and len(body) > 990_000 and headers["content-type"].startswith("text/plain"), (status, headers, len(body))


@behaviour("object.wide", "An object with 200 properties shows each of them.", store="hostile")
def _(visit):
    visit.open("/rows", entity="Wide")
    visit.page.locator("#rows tbody th a").click()
    expect(visit.page.locator(".values dt")).to_have_count(200)
    expect(visit.page.locator(".values")).to_contain_text("value 199")
