"""Entities with their counts, and the diagram of the schema."""
import re

from behaviour import behaviour, expect


@behaviour("entities.counts", "The first page lists each entity with the number of its objects.")
def _(visit):
    rows = visit.page.locator("#entities tbody tr")
    found = {row.locator("th").inner_text().strip(): row.locator("td").first.inner_text().strip() for row in rows.all()}
    assert found["Author"] == "12" and found["Book"] == "240" and found["Publication"] == "248" and found["Note"] == "0", found
    visit.snapshot("entities")


@behaviour("entities.open", "The name of an entity leads to its rows.")
def _(visit):
    visit.page.locator("#entities").get_by_role("link", name="Author", exact=True).click()
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Author")
    assert visit.query["entity"] == ["Author"]


@behaviour("entities.hierarchy", "Subentities follow the entity that they specialise, and have counts of their own.")
def _(visit):
    names = [name.strip() for name in visit.page.locator("#entities tbody th").all_inner_texts()]
    position = names.index("Publication")
    assert set(names[position + 1:position + 3]) == {"Book", "Magazine"}, names


@behaviour("entities.diagram", "The diagram has a box for each entity, whose name leads to the rows of the entity.")
def _(visit):
    boxes = visit.page.locator("svg.diagram").get_by_role("listitem")
    expect(boxes).to_have_count(7)
    visit.page.locator("svg.diagram a").filter(has_text="Publisher").first.click()
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Publisher")


@behaviour("entities.diagram.hint", "The diagram tells screen readers how many entities and relationships it shows.")
def _(visit):
    expect(visit.page.locator("svg.diagram")).to_have_accessible_name(re.compile("Schema"))
    expect(visit.page.locator("svg.diagram")).to_have_accessible_description(re.compile(r"^7 entities, 3 relationships\."))


@behaviour("entities.many", "Of 5,000 entities, one is found while its name is typed.", store="many")
def _(visit):
    expect(visit.page.locator("#entities tbody tr")).to_have_count(5_000)
    visit.page.locator("#entity-filter").fill("entity4321")
    expect(visit.page.locator("#entities tbody tr:visible")).to_have_count(1)


@behaviour("entities.many.diagram", "The diagram of 5,000 entities shows a part of them, and says so.", store="many")
def _(visit):
    expect(visit.page.locator("svg.diagram")).to_have_accessible_description(re.compile(r"^\d+ of 5000 entities"))
    assert visit.page.locator("svg.diagram").get_by_role("listitem").count() <= 200


@behaviour("entities.none", "A store without entities says that it has none.", store="empty")
def _(visit):
    expect(visit.page.get_by_text("The store has no entities.")).to_be_visible()
