import BrowserData
import Foundation
import StoreTesting
import Testing

/// The pages of a store, and their data in other forms.
@Suite struct PageTests {
    @Test func entitiesAreListedWithCountsAndDrawn() async throws {
        try await RunningBrowser.run { browser in
            let page = try await browser.page("/")
            #expect(page.contains("City</a></th><td class=\"number\">120</td>"))
            #expect(page.contains("<svg"))
            #expect(page.contains("href=\"/rows?entity=Country\""))
        }
    }

    @Test func pagesOfRowsLeadForwardsAndBackwards() async throws {
        try await RunningBrowser.run { browser in
            let first = try await browser.page("/rows?entity=City&size=50&order=population")
            #expect(first.contains("City 1<") && first.contains("City 50<") && !first.contains("City 51<"))
            #expect(!first.contains("rel=\"prev\""))
            let second = try await browser.page(PageText.link(first, "rel=\"next\""))
            #expect(second.contains("City 51<") && second.contains("City 100<") && !second.contains("City 50<"))
            let last = try await browser.page(PageText.link(first, "rel=\"last\""))
            #expect(last.contains("City 120<") && !last.contains("rel=\"next\""))
            let back = try await browser.page(PageText.link(second, "rel=\"prev\""))
            #expect(back.contains("City 1<") && back.contains("City 50<"))
        }
    }

    @Test func columnsOrderAndConditionAreInTheAddress() async throws {
        try await RunningBrowser.run { browser in
            let filter = PageText.encoded("population > 118000")
            let page = try await browser.page("/rows?entity=City&column=name&order=-population&filter=\(filter)")
            #expect(page.contains("City 120<") && page.contains("City 119<") && !page.contains("City 118<"))
            let (high, low) = (try #require(page.range(of: "City 120<")), try #require(page.range(of: "City 119<")))
            #expect(high.lowerBound < low.lowerBound)
            #expect(page.contains("value=\"population &gt; 118000\""))
        }
    }

    @Test func mistakeInAConditionIsShownWithItsPlace() async throws {
        try await RunningBrowser.run { browser in
            let answer = try await browser.request("GET", "/rows?entity=City&filter=\(PageText.encoded("population >> 3"))")
            #expect(answer.status == 400)
            #expect(answer.text.contains("id=\"mistake\"") && answer.text.contains("data-caret="))
            #expect(answer.text.contains("value=\"population &gt;&gt; 3\""))
            let data = try await browser.request("GET", "/rows.csv?entity=City&filter=\(PageText.encoded("nothing == 3"))")
            #expect(data.status == 400)
        }
    }

    @Test func objectShowsItsLinksInBothDirections() async throws {
        try await RunningBrowser.run { browser in
            let country = try await browser.page("/object?entity=Country&id=1")
            #expect(country.contains("cities</span> <span class=\"number\">120</span>"))
            #expect(country.contains("of=Country%2F1&amp;via=cities"))
            let cities = try await browser.page("/rows?entity=City&of=Country%2F1&via=cities")
            #expect(cities.contains("City 1<"))
            let city = try await browser.page("/object?entity=City&id=1")
            #expect(city.contains("href=\"/object?entity=Country&amp;id=1\" dir=\"auto\">France</a>"))
        }
    }

    @Test func longTextIsCutWithALinkToTheWhole() async throws {
        try await RunningBrowser.run { browser in
            let page = try await browser.page("/object?entity=Country&id=1")
            #expect(page.contains("Whole text of 2000 bytes"))
            #expect(!page.contains(String(repeating: "long ", count: 100)))
            let whole = try await browser.request("GET", "/value?entity=Country&id=1&property=notes")
            #expect(whole.text == String(repeating: "long ", count: 400))
            #expect(whole.headers["content-type"] == "text/plain; charset=utf-8")
        }
    }

    @Test func bytesAreAnImageOnlyIfTheirFirstBytesAre() async throws {
        try await RunningBrowser.run { browser in
            let image = try await browser.request("GET", "/value?entity=Country&id=1&property=flag")
            #expect(image.headers["content-type"] == "image/png")
            #expect(image.body == TestStore.png)
            let bytes = try await browser.request("GET", "/value?entity=Country&id=2&property=flag")
            #expect(bytes.headers["content-type"] == "application/octet-stream")
            #expect(bytes.headers["content-disposition"]?.hasPrefix("attachment") == true)
            let text = try await browser.request("GET", "/value?entity=Country&id=3&property=name")
            #expect(text.headers["content-type"] == "text/plain; charset=utf-8")
            for answer in [image, bytes, text] {
                #expect(answer.headers["content-security-policy"]?.contains("sandbox") == true)
                #expect(answer.headers["x-content-type-options"] == "nosniff")
            }
        }
    }

    @Test func rowsAreAlsoJSONAndCSV() async throws {
        try await RunningBrowser.run { browser in
            let json = try await browser.request("GET", "/rows.json?entity=City&column=name&size=10")
            let rows = try #require(JSONSerialization.jsonObject(with: json.body) as? [[String: Any]])
            #expect(rows.count == 120)
            #expect(rows.first?["name"] as? String == "City 1")
            let csv = try await browser.request("GET", "/rows.csv?entity=City&column=name")
            #expect(csv.text.split(whereSeparator: \.isNewline).count == 121)
            #expect(csv.headers["content-type"]?.hasPrefix("text/csv") == true)
            let object = try await browser.request("GET", "/object.json?entity=City&id=1")
            #expect(object.text.contains("City 1"))
            let groups = try await browser.request("GET", "/groups.json?entity=City&by=country")
            #expect(groups.text.contains("120"))
        }
    }

    @Test func groupsAreATableAndAChart() async throws {
        try await RunningBrowser.run { browser in
            for chart in ["bars", "line", "none"] {
                let page = try await browser.page("/groups?entity=Country&by=population&function=count&chart=\(chart)")
                #expect(page.contains("68000000"))
                #expect(page.contains("<svg") == (chart != "none"))
            }
            // The form keeps what it does not list.
            let path = try await browser.page("/groups?entity=City&by=country.name&chart=none")
            #expect(path.contains("<option value=\"country.name\" selected"))
            let refused = try await browser.request("GET", "/groups?entity=Country&function=drop")
            #expect(refused.status == 400)
        }
    }

    @Test func groupsAndFacetsLeadToTheObjectsTheyCount() async throws {
        try await RunningBrowser.run { browser in
            let groups = try await browser.page("/groups?entity=City&by=country&chart=none")
            let group = try await browser.page(PageText.link(groups, "dir=\"auto\">France<"))
            #expect(group.contains("50 rows on this page") && group.contains("City 1<"))
            let facet = try await browser.page("/rows?entity=City&facet=country")
            let rows = try await browser.page(PageText.link(facet, "dir=\"auto\">France</a> <span class=\"number\">120<"))
            #expect(rows.contains("50 rows on this page") && rows.contains("City 1<"))
            let entity = PageText.encoded(TestStore.hostileEntity)
            let hostile = try await browser.page("/rows?entity=\(entity)&facet=\(PageText.encoded(TestStore.hostileProperty))&count=all")
            #expect(hostile.contains("class=\"number\">1</span>"))
        }
    }

    @Test func costOfRowsNamesTheirNumberAndTheirAccess() async throws {
        try await RunningBrowser.run { browser in
            let page = try await browser.page("/rows?entity=City&filter=\(PageText.encoded("population == 3000"))")
            #expect(page.firstMatch(of: /Cost of the rows: [0-9.]+ ms · [0-9]+ rows? examined · ./) != nil)
        }
    }

    /// An address, and what its error names.
    @Test(arguments: [
        ("/rows", "entity", 400), ("/rows?entity=Nothing", "Nothing", 404), ("/object?entity=City", "id", 400),
        ("/object?entity=City&id=99999", "99999", 404), ("/object?entity=City&id=x", "x", 400), ("/rows?entity=City&after=x", "page", 400),
        ("/value?entity=City&id=1&property=nothing", "nothing", 404), ("/rows?entity=City&of=x", "of", 400),
        ("/history?before=x", "before", 400), ("/rows?entity=City&order=none", "none", 400), ("/rows?entity=City&column=none", "none", 400),
        ("/groups?entity=City&by=none", "none", 400),
    ])
    func addressThatIsWrongIsAnsweredWithASentence(_ target: String, _ word: String, _ status: Int) async throws {
        try await RunningBrowser.run(cities: 1) { browser in
            let answer = try await browser.request("GET", target)
            #expect(answer.status == status, "\(answer.text)")
            #expect(answer.text.contains("role=\"alert\"") && answer.text.contains(word))
        }
    }

    @Test func hostileNamesAndValuesAreText() async throws {
        try await RunningBrowser.run(cities: 1) { browser in
            let entity = PageText.encoded(TestStore.hostileEntity)
            let targets = [
                "/", "/rows?entity=\(entity)", "/object?entity=\(entity)&id=1", "/groups?entity=\(entity)", "/history",
                "/rows?entity=\(entity)&facet=\(PageText.encoded(TestStore.hostileProperty))", "/rows?entity=Country",
                "/object?entity=Country&id=3",
                "/rows?entity=City&filter=\(PageText.encoded(TestStore.hostile))", "/rows?entity=\(PageText.encoded(TestStore.hostile))",
            ]
            for target in targets {
                let text = try await browser.request("GET", target).text
                #expect(!text.contains("<script>alert") && !text.contains("<b>") && !text.contains("<i>"), "\(target)")
                // A quotation mark with a combining character is a quotation mark for a browser.
                #expect(!text.unicodeScalars.contains("\0"), "\(target)")
                #expect(!text.utf8.elementsEqual("".utf8) && text.range(of: "\"\u{301}", options: .literal) == nil, "\(target)")
                #expect(text.contains("&lt;"), "\(target)")
            }
        }
    }
}
