"""Changes: forms, the change set before the commit, conflicts, and delete rules."""
import json
import re

from behaviour import address, behaviour, expect
from servers import tool


def find(visit, entity, condition):
    """Opens the page of an object."""
    visit.open("/rows", entity=entity, filter=condition)
    visit.page.locator("#rows tbody th a").click()
    expect(visit.page.locator("#links")).to_be_visible()


def field(visit, name):
    """The field of a property in a form."""
    return visit.page.get_by_label(re.compile(f"^{name} "))


def step(visit, name):
    """Sends the form by a button."""
    visit.page.locator(f'button[name="step"][value="{name}"]').click()
    visit.page.wait_for_load_state("load")


def count(visit, entity, condition="TRUEPREDICATE"):
    """Returns the number of objects in the store, as another process reads it."""
    # The code is 1 if there is none.
    return int(tool("count", visit.server.store, entity, condition, codes=(0, 1)).replace(",", ""))


@behaviour("edit.preview", "Before the commit, the change set is shown, and the store is as it was.", write=True)
def _(visit):
    find(visit, "Author", "name == 'Author 1'")
    visit.page.get_by_role("link", name="Edit").click()
    visit.snapshot("form", "main")
    field(visit, "name").fill("Renamed")
    step(visit, "preview")
    expect(visit.page.locator("main")).to_contain_text("Nothing is committed yet")
    expect(visit.page.locator(".old")).to_have_text(["Author 1"])
    expect(visit.page.locator(".new")).to_have_text(["Renamed"])
    assert count(visit, "Author", "name == 'Renamed'") == 0
    visit.snapshot("preview", "main")
    visit.shot("preview")


@behaviour("edit.commit", "A confirmed change is committed, and recorded in the history.", write=True)
def _(visit):
    find(visit, "Author", "name == 'Author 1'")
    visit.page.get_by_role("link", name="Edit").click()
    field(visit, "name").fill("Renamed")
    step(visit, "preview")
    step(visit, "commit")
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text("Renamed")
    assert count(visit, "Author", "name == 'Renamed'") == 1
    visit.open("/history")
    expect(visit.page.locator("#transactions > li")).to_have_count(2)


@behaviour("edit.back", "From the change set, the form comes back with its entries.", write=True)
def _(visit):
    find(visit, "Author", "name == 'Author 1'")
    visit.page.get_by_role("link", name="Edit").click()
    field(visit, "name").fill("Renamed")
    step(visit, "preview")
    step(visit, "form")
    expect(field(visit, "name")).to_have_value("Renamed")


@behaviour("edit.conflict", "A change of an object that another process has changed meanwhile is refused.", write=True, failures=True)
def _(visit):
    find(visit, "Author", "name == 'Author 1'")
    visit.page.get_by_role("link", name="Edit").click()
    field(visit, "name").fill("Mine")
    tool("import", visit.server.store, "Author", "-", "--format", "jsonl", input=json.dumps({"name": "Author 1", "rating": 77}))
    step(visit, "preview")
    if visit.page.locator('button[value="commit"]').count():
        step(visit, "commit")
    expect(visit.page.get_by_role("alert")).to_contain_text("Nothing was committed")
    assert count(visit, "Author", "name == 'Mine'") == 0
    visit.shot("conflict")


@behaviour("edit.rules", "A value that a rule forbids is refused with the rule, and the entries remain.", write=True, failures=True)
def _(visit):
    find(visit, "Publisher", "name == 'Nordlicht'")
    visit.page.get_by_role("link", name="Edit").click()
    field(visit, "name").fill("x" * 51)
    step(visit, "preview")
    expect(visit.page.get_by_role("alert")).to_be_visible()
    expect(visit.page.locator("main")).to_contain_text(re.compile("50"))
    assert count(visit, "Publisher", "name == 'Nordlicht'") == 1


@behaviour("edit.type", "A text that is no number is refused beside its field.", write=True, failures=True)
def _(visit):
    find(visit, "Publisher", "name == 'Nordlicht'")
    visit.page.get_by_role("link", name="Edit").click()
    field(visit, "rank").fill("many")
    step(visit, "preview")
    expect(visit.page.locator(".problem")).to_have_count(1)
    expect(field(visit, "rank")).to_have_attribute("aria-invalid", "true")
    expect(field(visit, "rank")).to_have_value("many")


@behaviour("edit.hostile", "Texts that are markup come back from a form unchanged.", store="hostile", write=True)
def _(visit):
    entity = "\"><img src=x onerror=\"window.harmed=1\">"
    text = "</textarea><script>window.harmed=1</script>&amp;\"'\\{{name}}"
    visit.open("/object", entity=entity, id="1")
    visit.page.get_by_role("link", name="Edit").click()
    field(visit, "name").fill(text)
    step(visit, "preview")
    step(visit, "commit")
    expect(visit.page.locator(".values")).to_contain_text(text)


@behaviour("create.object", "An object is created with its values and relationships.", write=True)
def _(visit):
    visit.open("/rows", entity="Author")
    visit.page.get_by_role("link", name="Create").click()
    field(visit, "name").fill("New Author")
    step(visit, "preview")
    expect(visit.page.locator("main")).to_contain_text("Nothing is committed yet")
    assert count(visit, "Author") == 12
    step(visit, "commit")
    expect(visit.page.get_by_role("heading", level=1)).to_contain_text("New Author")
    assert count(visit, "Author") == 13


@behaviour("create.abstract", "For an abstract entity, one of its subentities is chosen.", write=True)
def _(visit):
    visit.open("/create", entity="Publication")
    expect(visit.page.get_by_role("link", name="Magazine")).to_be_visible()
    expect(visit.page.get_by_role("link", name="Book")).to_be_visible()


@behaviour("create.duplicate", "A second object with a unique value is refused.", write=True, failures=True)
def _(visit):
    visit.open("/create", entity="Author")
    field(visit, "name").fill("Author 1")
    step(visit, "preview")
    if not visit.page.get_by_role("alert").count():
        step(visit, "commit")
    expect(visit.page.get_by_role("alert")).to_be_visible()
    assert count(visit, "Author") == 12


@behaviour("delete.cascade", "Before an object is deleted, what the delete rules take along is listed.", write=True)
def _(visit):
    find(visit, "Publisher", "name == 'Quiet House'")
    visit.page.get_by_role("link", name="Delete").click()
    expect(visit.page.locator("main")).to_contain_text("Nothing is committed yet")
    changes = visit.page.get_by_role("list", name="Changes").locator("> li")
    expect(changes.filter(has_text="delete")).to_have_count(3)
    expect(changes.filter(has_text="Weekly 7")).to_have_count(1)
    visit.shot("delete")
    assert count(visit, "Publisher") == 4 and count(visit, "Magazine") == 8
    step(visit, "commit")
    assert count(visit, "Publisher") == 3 and count(visit, "Magazine") == 6


@behaviour("delete.denied", "An object that a delete rule protects is not deleted, and the page names the rule.", write=True, failures=True)
def _(visit):
    find(visit, "Book", "code == 'B1'")
    visit.page.get_by_role("link", name="Delete").click()
    expect(visit.page.get_by_role("alert")).to_contain_text(re.compile("loans", re.I))
    assert count(visit, "Book") == 240


@behaviour("delete.object", "A confirmed deletion deletes the object.", write=True, failures=True)
def _(visit):
    find(visit, "Loan", "returned == true")
    visit.page.get_by_role("link", name="Delete").click()
    step(visit, "commit")
    assert count(visit, "Loan") == 4


@behaviour("write.token", "A form without its token, or with that of another form, changes nothing.", write=True, failures=True)
def _(visit):
    find(visit, "Loan", "returned == true")
    path = visit.path.replace("/object", "/delete")
    cookie = "; ".join(f"{item['name']}={item['value']}" for item in visit.context.cookies())
    headers = {"Cookie": cookie, "Content-Type": "application/x-www-form-urlencoded", "Origin": visit.server.origin}
    for body in (b"step=commit", b"step=commit&form-token=" + b"0" * 32, b"step=commit&form-token="):
        status, _, _ = visit.request(path, method="POST", headers=headers, body=body, token=False)
        assert 400 <= status < 500, (body, status)
    for origin in ("https://evil.example", "null"):
        status, _, _ = visit.request(path, method="POST", headers={**headers, "Origin": origin}, body=b"step=commit", token=False)
        assert status == 403, (origin, status)
    assert count(visit, "Loan") == 5


@behaviour("write.off", "Without --write, pages offer no change.")
def _(visit):
    visit.open("/rows", entity="Author")
    expect(visit.page.get_by_role("link", name="Create")).to_have_count(0)
    visit.open("/object", entity="Author", id="1")
    expect(visit.page.get_by_role("link", name="Edit")).to_have_count(0)
    expect(visit.page.get_by_role("link", name="Delete")).to_have_count(0)
    status, _, _ = visit.request(address("/edit", entity="Author", id="1"))
    assert status in (403, 404), status


@behaviour("task.10", "By keyboard: change the name of an author, and commit.", write=True)
def _(visit):
    links = visit.page.locator("#entities tbody th a")
    position = [text.strip() for text in links.all_inner_texts()].index("Author")
    visit.press(*["j"] * (position + 1), "Enter")
    visit.page.wait_for_url(re.compile("/rows"))
    visit.press("j", "Enter")
    visit.page.wait_for_url(re.compile("/object"))
    visit.press("w")
    visit.page.wait_for_url(re.compile("/edit"))
    while visit.page.evaluate("document.activeElement.tagName") not in ("INPUT", "TEXTAREA"):
        visit.press("Tab")
    visit.press("End")
    visit.type("X")
    visit.press("Control+Enter")
    expect(visit.page.locator("main")).to_contain_text("Nothing is committed yet")
    visit.press("Control+Enter")
    visit.page.wait_for_url(re.compile("/object"))
    assert count(visit, "Author", "name ENDSWITH 'X'") == 1
    visit.run.note(f"task 10  {visit.keys:3} keys  a change and its commit (1 of them is its text)")


@behaviour("audit.forms", "axe finds no violation on forms, change sets and refusals.", write=True, failures=True)
def _(visit):
    visit.open("/edit", entity="Book", id="1")
    visit.audit("form")
    field(visit, "pages").fill("many")
    step(visit, "preview")
    visit.audit("refused form")
    visit.open("/edit", entity="Author", id="1")
    field(visit, "name").fill("Other")
    step(visit, "preview")
    visit.audit("change set")
    visit.open("/create", entity="Author")
    visit.audit("form of a new object")
    visit.open("/delete", entity="Publisher", id="1")
    visit.audit("deletion")
