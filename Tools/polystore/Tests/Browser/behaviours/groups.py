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
