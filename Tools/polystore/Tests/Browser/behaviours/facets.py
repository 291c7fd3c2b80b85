"""Facets of a property."""
import re

from behaviour import behaviour, expect


def values(visit):
    """The values of the facet with their counts."""
    if visit.page.locator("[data-events]").count():
        expect(visit.page.locator(".facet .progress")).to_contain_text("objects counted.")
    expect(visit.page.locator("#facet-values li").first).to_be_visible()
    return {row.locator("a, span").first.inner_text().strip(): int(re.sub(r"\D", "", row.locator(".number").inner_text()))
            for row in visit.page.locator("#facet-values li").all()}


@behaviour("facet.values", "The facet of a property lists its values with the number of objects of each.")
def _(visit):
    visit.open("/rows", entity="Loan", facet="returned")
    found = values(visit)
    assert sorted(found.values()) == [1, 4], found
    visit.snapshot("facet", "#facets")


@behaviour("facet.filter", "A value of a facet leads to the objects that have it.")
def _(visit):
    visit.open("/rows", entity="Author", facet="alive")
    expected = values(visit)
    with visit.page.expect_navigation():
        visit.page.locator("#facet-values a").first.click()
    assert len(visit.names()) in expected.values(), (visit.names(), expected)
    assert visit.query["filter"]


@behaviour("facet.months", "A facet of dates has years, and within a year months.")
def _(visit):
    visit.open("/rows", entity="Book", facet="published")
    years = values(visit)
    assert list(years)[:2] == ["2001", "2002"] and sum(years.values()) == 240, years
    with visit.page.expect_navigation():
        visit.page.locator("#facet-values a").first.click()
    months = values(visit)
    assert len(months) == 12 and sum(months.values()) == years["2001"], months


@behaviour("facet.ranges", "A facet of numbers has ranges, whose counts are those of all objects.")
def _(visit):
    visit.open("/rows", entity="Book", facet="pages")
    found = values(visit)
    assert 1 < len(found) <= 40 and sum(found.values()) == 240, found


@behaviour("facet.related", "A facet of a relationship lists the related objects by name.")
def _(visit):
    visit.open("/rows", entity="Book", facet="publisher")
    assert set(values(visit).values()) == {80}, values(visit)
    assert {"Harbour Press", "Nordlicht"} <= set(values(visit))


@behaviour("facet.condition", "A facet counts the objects that satisfy the condition.")
def _(visit):
    visit.open("/rows", entity="Book", filter="pages < 300", facet="publisher", size="250")
    assert 0 < sum(values(visit).values()) == len(visit.names()) < 240, values(visit)


@behaviour("facet.stop", "A count that reads every object can be stopped.")
def _(visit):
    # The count is held, because it could end before the click.
    held = []
    visit.page.route("**/facet.events*", lambda route: held.append(route))
    visit.open("/rows", entity="Book", facet="pages")
    visit.page.locator("[data-stop]").click()
    expect(visit.page.locator(".facet .progress")).to_contain_text("Stopped")
    expect(visit.page.locator("[data-stop]")).to_be_hidden()
    for route in held:
        route.abort()
