"""Who is answered: the token, the host, the origin, and what a page may do."""
from behaviour import address, behaviour

PATHS = ["/", "/rows?entity=Book", "/object?entity=Author&id=1", "/groups?entity=Book&by=publisher", "/history", "/rows.json?entity=Book", "/rows.csv?entity=Book",
         "/value?entity=Book&id=1&property=cover", "/assets/browser.js", "/complete.json?entity=Book&text=p&at=1", "/history.events",
         "/facet.events?entity=Book&facet=pages"]


@behaviour("safety.token", "Without the token, or with another one, nothing of the store is answered.")
def _(visit):
    for path in PATHS:
        for headers in ({}, {"Authorization": "Bearer 00000000000000000000000000000000"}, {"Cookie": f"polystore-{visit.server.parts.port}=0"}):
            status, _, body = visit.request(path, headers=headers, token=False)
            assert status in (401, 403), (path, status)
            assert b"Book" not in body and b"Author" not in body, (path, body[:200])
    status, _, _ = visit.request(address("/", token="0" * 32), token=False)
    assert status in (401, 403), status


@behaviour("safety.address", "The token leaves the address when the page opens, and is in no link.")
def _(visit):
    assert "token" not in visit.page.url
    assert visit.server.token not in visit.page.content()
    cookie = next(cookie for cookie in visit.context.cookies())
    assert cookie["httpOnly"] and cookie["sameSite"] == "Strict", cookie
    assert visit.page.evaluate("document.cookie") == ""


@behaviour("safety.host", "A request under another name of the host is refused, as DNS rebinding sends it.")
def _(visit):
    port = visit.server.parts.port
    for host in (f"evil.example:{port}", "evil.example", f"127.0.0.1.evil.example:{port}", f"localhost.evil.example:{port}", ""):
        status, _, body = visit.request("/", headers={"Host": host})
        assert status in (400, 403, 421), (host, status)
        assert b"Book" not in body
    status, _, _ = visit.request("/", headers={"Host": f"localhost:{port}"})
    assert status == 200, status


@behaviour("safety.origin", "A request from a page of another site is refused.")
def _(visit):
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}):
        status, _, body = visit.request("/rows?entity=Book", headers=headers)
        assert status == 403, (headers, status)
        assert b"publisher" not in body


@behaviour("safety.methods", "Other methods are refused, and a change of a store that is open for reading too.")
def _(visit):
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
        status, _, _ = visit.request("/rows?entity=Book", method=method)
        assert status in (400, 403, 404, 405, 501), (method, status)
    for path in ("/edit?entity=Author&id=1", "/create?entity=Author", "/delete?entity=Author&id=1", "/rows?entity=Author"):
        status, _, _ = visit.request(path, method="POST", body=b"", headers={"Content-Type": "application/x-www-form-urlencoded"})
        assert status in (403, 404, 405), (path, status)


@behaviour("safety.policy", "Each answer forbids inline scripts, frames, guessing of types, and keeping a copy.")
def _(visit):
    for path in PATHS:
        # The answer of events does not end.
        if ".events" in path:
            continue
        _, headers, _ = visit.request(path)
        policy = headers.get("content-security-policy", "")
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy, (path, policy)
        assert headers.get("x-content-type-options") == "nosniff", path
        assert headers.get("referrer-policy") in ("no-referrer", "same-origin"), path
        assert "no-store" in headers.get("cache-control", ""), path


@behaviour("safety.inline", "No page has a style or a script of its own.")
def _(visit):
    for path in ("/", "/rows?entity=Book&facet=publisher", "/groups?entity=Book&by=publisher", "/history", "/object?entity=Author&id=1"):
        visit.page.goto(visit.server.origin + path)
        assert visit.page.locator("script:not([src]), style, [style]").count() == 0, path
        assert visit.page.evaluate("[...document.querySelectorAll('*')].every(e => e.getAttributeNames().every(n => !n.startsWith('on')))"), path


@behaviour("safety.policy.works", "The policy stops a script that is put into a page.")
def _(visit):
    visit.page.evaluate("""() => { const s = document.createElement('div'); s.innerHTML = '<img src="x:" onerror="window.harmed=1">'; document.body.append(s);
        const t = document.createElement('script'); t.textContent = 'window.harmed=1'; document.body.append(t); }""")
    assert not visit.harmed()
    # The browser reports what the policy stopped.
    assert visit.problems and all("violates" in problem or "Refused" in problem or "x:" in problem for problem in visit.problems), visit.problems
    visit.problems.clear()
