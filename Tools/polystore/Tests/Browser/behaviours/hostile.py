"""A store whose names and values are scripts, markup, escapes and long texts. The runner fails if a script ran, a request left the server, or a dialog opened."""
import csv
import io
import json

from behaviour import behaviour, expect

ENTITY = "<script>window.harmed=1</script>"
OTHER = "\"><img src=x onerror=\"window.harmed=1\">"
PATH = "a/b?c=d&e#f%20+g"
NAMES = ["<b onmouseover=window.harmed=1>bold", "' autofocus onfocus=window.harmed=1 x='", "a&b=c", "{{name}}", "שם", "first name"]


@behaviour("hostile.entities", "Names of entities that are markup are shown as text.", store="hostile")
def _(visit):
    names = [name.strip() for name in visit.page.locator("#entities tbody th").all_inner_texts()]
    assert {ENTITY, OTHER, PATH} <= set(names), names
    expect(visit.page.locator("svg.diagram").get_by_role("listitem")).to_have_count(5)
    visit.snapshot("hostile-entities", "main")


@behaviour("hostile.rows", "Values and names that are scripts are shown as text in rows.", store="hostile")
def _(visit):
    visit.open("/rows", entity=ENTITY)
    expect(visit.page.locator("#rows tbody tr")).to_have_count(24)
    for text in (ENTITY, "{{name}}{{{name}}}{{>layout}}", "&lt;b&gt;&amp;#0;"):
        assert visit.page.locator("#rows td").get_by_text(text, exact=True).count() >= 1, text


@behaviour("hostile.links", "No link of a value leads to another server, or to a script.", store="hostile")
def _(visit):
    for path, items in (("/rows", {"entity": ENTITY}), ("/object", {"entity": ENTITY, "id": "1"}), ("/", {})):
        visit.open(path, **items)
        links = visit.page.evaluate("[...document.querySelectorAll('a, form, img')].map(e => e.href?.baseVal ?? e.href ?? e.action ?? e.src)")
        bad = [link for link in links if not link.startswith((visit.server.origin, "/", "?", "#"))]
        assert links and not bad, bad


@behaviour("hostile.names", "Entities and properties with any name can be ordered, counted and grouped.", store="hostile")
def _(visit):
    for path, select in (("/rows", "order"), ("/rows", "facet"), ("/groups", "by")):
        visit.open(path, entity=ENTITY)
        choices = [option.get_attribute("value") for option in visit.page.locator(f"#{select} option").all()]
        assert len(choices) > len(NAMES), (select, choices)
        for choice in filter(None, choices):
            assert visit.open(path, **{"entity": ENTITY, select: choice}).status == 200, (select, choice)
    visit.open("/")
    visit.page.locator("#entities").get_by_role("link", name=PATH, exact=True).first.click()
    expect(visit.page.locator("#rows tbody tr")).to_have_count(1)


@behaviour("hostile.objects", "Each object of the store is shown.", store="hostile")
def _(visit):
    for number in range(1, 25):
        assert visit.open("/object", entity=ENTITY, id=str(number)).status == 200, number
        expect(visit.page.locator(".values dt")).to_have_count(10)


@behaviour("hostile.facets", "Values of a facet lead to the objects that have them, whatever they contain.", store="hostile")
def _(visit):
    visit.open("/rows", entity=ENTITY, facet="first name", count="all")
    expect(visit.page.locator("#facet-values li").first).to_be_visible()
    links = [link.get_attribute("href") for link in visit.page.locator("#facet-values a").all()]
    assert len(links) >= 20, len(links)
    for link in links:
        assert visit.page.goto(visit.server.origin + link).status == 200, link
        expect(visit.page.locator("#rows tbody tr")).to_have_count(1)


@behaviour("hostile.values", "Values that browsers take for documents are not run as such.", store="hostile")
def _(visit):
    for number in range(1, 7):
        path = f"/value?entity=%3Cscript%3Ewindow.harmed%3D1%3C%2Fscript%3E&id={number}&property=bytes"
        status, headers, _ = visit.request(path)
        assert status == 200, status
        kind = headers["content-type"]
        assert "html" not in kind and "svg" not in kind and "script" not in kind, kind
        assert headers["x-content-type-options"] == "nosniff" and "sandbox" in headers["content-security-policy"], headers


@behaviour("hostile.forms", "JSON and CSV of the store are well-formed.", store="hostile")
def _(visit):
    visit.open("/rows", entity=ENTITY)
    for form in ("json", "csv"):
        link = visit.page.locator(f'#formats a[data-format="{form}"]').get_attribute("href")
        status, headers, body = visit.request(link)
        assert status == 200 and headers["x-content-type-options"] == "nosniff", (form, status)
        if form == "csv":
            assert len(list(csv.reader(io.StringIO(body.decode(), newline="")))) == 25
        else:
            json.loads(body)


@behaviour("hostile.addresses", "Addresses that no page has are answered with a sentence.", store="hostile", failures=True)
def _(visit):
    long = "x" * 5_000
    for path in ("/rows", "/rows?entity=", "/rows?entity=%00", "/rows?entity=%ff", "/rows?entity=Wide&filter=%00", f"/rows?entity={long}", "/rows?entity=Wide&size=-1",
                 "/rows?entity=Wide&size=99999999999999999999", "/rows?entity=Wide&after=%7b", "/rows?entity=Wide&page=zzz", "/object?entity=Wide&id=x",
                 "/object?entity=Wide&id=9223372036854775807", "/object?entity=Wide&id=-1", "/value?entity=Wide&id=1&property=none", "/groups?entity=Wide&by=none",
                 "/rows?entity=Wide&order=none", "/rows?entity=Wide&column=none", "/rows?entity=Wide&facet=none", "/absent", "/assets/../Package.swift", "//evil.example/"):
        status, _, body = visit.request(path)
        assert 200 <= status < 500, (path, status, body[:200])
        assert b"<script>window" not in body, path
    deep = "(" * 2_000 + "property0 == 'x'" + ")" * 2_000
    status, _, _ = visit.request("/rows?entity=Wide&filter=" + deep.replace(" ", "%20"))
    assert 200 <= status < 500, status
    status, _, _ = visit.request("/")
    assert status == 200, "the server does not answer any longer"
