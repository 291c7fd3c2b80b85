"""Groups as tables and charts."""
import re

from behaviour import behaviour, expect


@behaviour("groups.table", "Groups are a table with a row for each value.")
def _(visit):
    visit.open("/groups", entity="Book", by="publisher")
    expect(visit.page.locator("#rows tbody tr")).to_have_count(3)
    assert all("80" in row for row in visit.page.locator("#rows tbody tr").all_inner_texts())
    visit.snapshot("groups", "main")


@behaviour("groups.form", "Properties and functions are chosen in a form.")
def _(visit):
    visit.open("/groups", entity="Book")
    visit.page.locator("#by").select_option("publisher")
    visit.page.locator("#function").select_option("max")
    visit.page.locator("#of").select_option("pages")
    with visit.page.expect_navigation():
        visit.page.locator("#query button").click()
    expect(visit.page.locator("#rows tbody tr")).to_have_count(3)
    assert max(int(re.sub(r"\D", "", text.split("\t")[-1])) for text in visit.page.locator("#rows tbody tr").all_inner_texts()) == 779


@behaviour("groups.keys", "The form keeps several properties to group by, and a size.")
def _(visit):
    visit.open("/groups", entity="Book", by=["publisher.name", "year(published)"], size="5")
    visit.page.locator("#function").select_option("max")
    with visit.page.expect_navigation():
        visit.page.locator("#query button").click()
    assert visit.query["by"] == ["publisher.name", "year(published)"] and visit.query["size"] == ["5"], visit.query
    expect(visit.page.locator("#rows tbody tr")).to_have_count(5)
    visit.audit("groups of two properties")
    visit.page.get_by_label("Then by").select_option("")
    with visit.page.expect_navigation():
        visit.page.locator("#query button").click()
    assert visit.query["by"] == ["publisher.name"], visit.query
    visit.open("/groups", entity="Book", by="")
    with visit.page.expect_navigation():
        visit.page.locator("#query button").click()
    expect(visit.page.locator("#rows tbody tr")).to_have_count(1)


@behaviour("groups.mistake", "A mistake in the condition of groups is shown in the form, which keeps what was typed.", failures=True)
def _(visit):
    assert visit.open("/groups", entity="Book", by="publisher", filter="pages > 100", having="count >> 3").status == 400
    expect(visit.page.get_by_role("alert")).to_be_visible()
    expect(visit.page.locator("#having")).to_be_focused()
    expect(visit.page.locator("#having")).to_have_value("count >> 3")
    expect(visit.page.locator("#filter")).to_have_value("pages > 100")
    visit.audit("groups with a mistake")


@behaviour("groups.bars", "Few groups are vertical bars, with a text for screen readers.")
def _(visit):
    visit.open("/groups", entity="Book", by="publisher")
    expect(visit.page.locator("svg.chart .bar")).to_have_count(3)
    expect(visit.page.locator("svg.chart")).to_have_accessible_description(re.compile(r"^3 groups\."))


@behaviour("groups.line", "Groups of dates are a line.")
def _(visit):
    visit.open("/groups", entity="Book", by="published", chart="line")
    expect(visit.page.locator("svg.chart path.line")).to_have_count(1)
    expect(visit.page.locator("svg.chart")).to_have_accessible_description(re.compile(r"points, from 2001-01"))


@behaviour("groups.rows", "A group leads to its objects.")
def _(visit):
    visit.open("/groups", entity="Book", by="publisher")
    visit.page.locator("#rows tbody th a").first.click()
    expect(visit.page.locator("#rows tbody tr").first).to_be_visible()
    assert len(set(visit.column("publisher"))) == 1


@behaviour("groups.none", "Groups of no objects say so.")
def _(visit):
    visit.open("/groups", entity="Note", by="text")
    expect(visit.page.get_by_role("status").first).to_be_attached()
    expect(visit.page.locator("#rows tbody tr")).to_have_count(0)
