import Foundation
import PolyStoreCore
import Testing

/// What forms keep of a view, and mistakes in them.
@Suite struct FormTests {
    /// Returns the tags of the boxes of columns.
    private static func boxes(_ page: String) -> [(value: String, isChosen: Bool)] {
        page.matches(of: /type="checkbox" name="column" value="([^"]*)"( checked)?>/).map { (String($0.1), $0.2 != nil) }
    }

    @Test(arguments: ["country.name", "-country.name", "population / 7", "objectID", "-objectID", "-name"])
    func orderOfAnAddressIsChosenInItsForm(_ order: String) async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            let page = try await browser.page("/rows?entity=City&order=\(PageText.encoded(order))")
            #expect(page.contains("<option value=\"\(order)\" selected"))
        }
    }

    @Test func columnsOfAnAddressAreChosenInTheirOrder() async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            let plain = try await browser.page("/rows?entity=City")
            #expect(Self.boxes(plain).map(\.value) == ["name", "population", "country", "mayor"])
            #expect(Self.boxes(plain).allSatisfy(\.isChosen) && plain.contains("<fieldset data-all>"))
            let few = try await browser.page("/rows?entity=City&column=name&column=country")
            #expect(Self.boxes(few).map(\.value) == ["name", "population", "country", "mayor"] && few.contains("<fieldset data-all>"))
            #expect(Self.boxes(few).map(\.isChosen) == [true, false, true, false])
            let columns = ["country.name", "population / 100 as hundreds", "population", "name"]
            let items = columns.map { "&column=\(PageText.encoded($0))" }.joined()
            let own = try await browser.page("/rows?entity=City\(items)")
            #expect(Self.boxes(own).map(\.value) == columns + ["country", "mayor"] && !own.contains("<fieldset data-all>"))
            #expect(Self.boxes(own).map(\.isChosen) == [true, true, true, true, false, false])
            let count = try await browser.page("/rows?entity=Country&column=cities")
            #expect(Self.boxes(count).first?.value == "cities" && Self.boxes(count).first?.isChosen == true)
        }
    }

    @Test func boxOfAnOddNameSendsTheNameAsAColumn() async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            let entity = PageText.encoded(TestStore.hostileEntity)
            let page = try await browser.page("/rows?entity=\(entity)")
            let box = try #require(Self.boxes(page).first)
            var value = box.value
            for (name, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")] {
                value = value.replacingOccurrences(of: name, with: character)
            }
            let chosen = try await browser.page("/rows?entity=\(entity)&column=\(PageText.encoded(value))")
            #expect(Self.boxes(chosen).map(\.isChosen) == [true, false])
        }
    }

    @Test func sizesOfAnAddressAreKept() async throws {
        try await RunningBrowser.run(cities: 12) { browser in
            let rows = try await browser.page("/rows?entity=City&size=10")
            #expect(rows.contains("<option selected>10</option>") && rows.contains("10 rows on this page"))
            let groups = try await browser.page("/groups?entity=City&by=name&size=7")
            #expect(groups.contains("<input type=\"hidden\" name=\"size\" value=\"7\">"))
        }
    }

    @Test func formOfGroupsKeepsSeveralKeysAndPaths() async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            let page = try await browser.page("/groups?entity=City&by=country.name&by=mayor&function=max&of=country.population")
            #expect(page.contains("<option value=\"country.name\" selected"))
            #expect(page.contains("<select id=\"by-2\" name=\"by\">") && page.contains("<option value=\"mayor\" selected"))
            #expect(page.contains("<option value=\"country.population\" selected"))
            let all = try await browser.page("/groups?entity=City&by=")
            #expect(all.contains("<select id=\"by\" name=\"by\" data-keep><option value=\"\" selected>"))
        }
    }

    /// Items of the groups, and what the page says.
    @Test(arguments: [
        ("having=count%20%3E%3E%203", true), ("having=nothing%20%3E%203", true), ("by=nothing", false), ("of=nothing", false),
    ])
    func mistakeInGroupsIsShownInTheForm(_ item: String, _ isInHaving: Bool) async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            let answer = try await browser.request("GET", "/groups?entity=City&filter=population%20%3E%201&by=country&\(item)")
            #expect(answer.status == 400)
            #expect(answer.text.contains("role=\"alert\"") && answer.text.contains("value=\"population &gt; 1\""))
            let field = try #require(answer.text.firstMatch(of: /<input id="having"[^\n]*/)).0
            #expect(field.contains("aria-invalid=\"true\"") == isInHaving && answer.text.contains("<pre aria-hidden"), "\(field)")
            #expect(!answer.text.contains("<h1 dir=\"auto\">Error") && !answer.text.contains("class=\"cost\""))
        }
    }

    @Test func functionThatNeedsANumberIsRefusedInTheForm() async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            let answer = try await browser.request("GET", "/groups?entity=City&filter=population%20%3E%201&by=country&function=nothing")
            #expect(answer.status == 400 && answer.text.contains("role=\"alert\"") && answer.text.contains("value=\"population &gt; 1\""))
            #expect(answer.text.contains("There is no function"))
        }
    }

    @Test(arguments: ["search=x", "order=nothing", "column=nothing", "column=name&column=%20"])
    func mistakeBesideTheConditionIsShownInTheForm(_ item: String) async throws {
        try await RunningBrowser.run(cities: 2) { browser in
            let answer = try await browser.request("GET", "/rows?entity=City&filter=population%20%3E%201&size=10&\(item)")
            #expect(answer.status == 400)
            #expect(answer.text.contains("id=\"mistake\"") && answer.text.contains("value=\"population &gt; 1\""))
            #expect(answer.text.contains("<option selected>10</option>") && !answer.text.contains("aria-invalid"))
            if item == "search=x" { #expect(answer.text.contains("type=\"search\" value=\"x\"")) }
        }
    }

    @Test func conditionOfBlanksIsNone() async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            let facet = try await browser.page("/rows?entity=City&filter=%20%20&search=%20&facet=country")
            #expect(!facet.contains("data-events"))
            let rows = try await browser.page(PageText.link(facet, "dir=\"auto\">France</a> <span class=\"number\">3<"))
            #expect(rows.contains("3 rows on this page"))
            let groups = try await browser.page("/groups?entity=City&by=name&filter=%09%20&having=%20&search=%20")
            #expect(try await browser.page(PageText.link(groups, "dir=\"auto\">City 1<")).contains("1 row on this page"))
        }
    }
}
