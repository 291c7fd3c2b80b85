"""Conditions in the format-string language, their completion and mistakes, full text, and what a view costs."""
import re

from behaviour import behaviour, expect


@behaviour("filter.rows", "A condition keeps the rows that satisfy it, also over relationships.")
def _(visit):
    visit.open("/rows", entity="Book")
    visit.page.locator("#filter").fill("publisher.name == 'Nordlicht' AND pages < 200")
    with visit.page.expect_navigation():
        visit.page.locator("#filter").press("Enter")
    assert set(visit.column("publisher")) == {"Nordlicht"}
    assert all(int(pages) < 200 for pages in visit.column("pages"))


@behaviour("filter.mistake", "A mistake in a condition is explained, and the caret is where it is.", failures=True)
def _(visit):
    visit.open("/rows", entity="Book", filter="pages > > 3")
    field = visit.page.locator("#filter")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_be_focused()
    expect(visit.page.locator("#mistake")).to_be_visible()
    assert field.evaluate("field => field.selectionStart") == 8, field.evaluate("field => field.selectionStart")
    visit.snapshot("mistake", "#query")


@behaviour("filter.unknown", "A property that the entity does not have is named in the message.", failures=True)
def _(visit):
    visit.open("/rows", entity="Book", filter="pagse > 3")
    expect(visit.page.locator("#mistake")).to_contain_text("pagse")


@behaviour("filter.completion", "Properties are offered while a condition is typed, and the keyboard accepts one.")
def _(visit):
    visit.open("/rows", entity="Book")
    visit.page.locator("#filter").click()
    visit.page.keyboard.type("pub")
    choices = visit.page.locator("#filter-choices [role=option]")
    expect(choices.filter(has_text="published")).to_have_count(1)
    expect(choices.filter(has_text="publisher")).to_have_count(1)
    visit.press("ArrowDown", "Enter")
    assert re.fullmatch("publish(ed|er) ?", visit.page.locator("#filter").input_value())
    expect(visit.page.locator("#filter-choices")).to_be_hidden()


@behaviour("filter.completion.path", "After a relationship and a point, the properties of the related entity are offered.")
def _(visit):
    visit.open("/rows", entity="Book")
    visit.page.locator("#filter").click()
    visit.page.keyboard.type("pages > 3 AND publisher.ra")
    expect(visit.page.locator("#filter-choices [role=option]").filter(has_text="rank")).to_have_count(1)


@behaviour("filter.completion.escape", "Escape closes the list of completions, and the text remains.")
def _(visit):
    visit.open("/rows", entity="Book")
    visit.page.locator("#filter").click()
    visit.page.keyboard.type("pub")
    expect(visit.page.locator("#filter-choices")).to_be_visible()
    visit.press("Escape")
    expect(visit.page.locator("#filter-choices")).to_be_hidden()
    expect(visit.page.locator("#filter")).to_have_value("pub")


@behaviour("search.rows", "Full text finds objects by words.")
def _(visit):
    visit.open("/rows", entity="Book")
    visit.page.locator("#search").fill("river garden")
    with visit.page.expect_navigation():
        visit.page.locator("#search").press("Enter")
    titles = visit.column("title")
    assert titles and all("river" in title and "garden" in title for title in titles), titles


@behaviour("search.absent", "An entity without a full-text index has no field for full text.")
def _(visit):
    visit.open("/rows", entity="Author")
    expect(visit.page.locator("#filter")).to_be_visible()
    expect(visit.page.locator("#search")).to_have_count(0)


def cost(visit):
    """Opens the cost of the view. Returns what it lists."""
    pane = visit.page.locator("details.cost").first
    pane.locator("summary").click()
    names = [name.strip() for name in pane.locator("dt").all_inner_texts()]
    return dict(zip(names, [value.strip() for value in pane.locator("dd").all_inner_texts()]))


@behaviour("cost.index", "The cost of a view that an index answers names the index.")
def _(visit):
    visit.open("/rows", entity="Publication", filter="title == 'The river and the river'")
    cost(visit)
    expect(visit.page.locator("details.cost").first).to_contain_text(re.compile("title"))
    expect(visit.page.locator("details.cost .advice")).to_have_count(0)


@behaviour("cost.rows", "The cost of a view states the rows that were examined, and the time.")
def _(visit):
    visit.open("/rows", entity="Book", filter="pages > 700")
    text = " ".join([*cost(visit).keys(), *cost(visit).values()])
    assert re.search("rows", text, re.I) and re.search(r"\d ?(µs|ms|s)\b", text), text


@behaviour("cost.advice", "A view that reads every object of a large entity names the index that would help.", store="atlas")
def _(visit):
    visit.open("/rows", entity="City", filter="timeZone == 'Europe/Lisbon'", advise="1")
    cost(visit)
    expect(visit.page.locator("details.cost .advice")).to_contain_text("timeZone")
