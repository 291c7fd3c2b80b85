import BrowserData
import Foundation
import PolyStoreCore
import Testing

/// Links from counts to the objects that were counted, and from cells to whole values.
@Suite struct LinkTests {
    @Test func facetOfRelatedObjectsKeepsTheLinkToThem() async throws {
        try await RunningBrowser.run(cities: 4, forWriting: true) { browser in
            let stack = browser.store.stack
            try await stack.perform { transaction in
                // Two mayors of the same name. One has cities in two countries.
                let mayors = try (0..<2).map { _ in try transaction.create("Person", ["name": "Jane"]) }
                for row in 1...4 {
                    try transaction.fetchExisting(stack.objectID("City", rowID: Int64(row)))?.set("mayor", to: mayors[row == 4 ? 1 : 0])
                }
                let other = try transaction.create("City", ["name": "Elsewhere"])
                try other.set("mayor", to: mayors[0])
                try other.set("country", to: transaction.fetchExisting(stack.objectID("Country", rowID: 2)))
            }
            let address = "/rows?entity=City&of=Country%2F1&via=cities&facet=mayor&count=all"
            let cities = try await browser.page(address)
            let mayor = try await browser.page(PageText.link(cities, "dir=\"auto\">Jane</a> <span class=\"number\">3<"))
            #expect(mayor.contains("3 rows on this page") && !mayor.contains("Elsewhere"))
            #expect(mayor.contains("cities of France; City.mayor: Jane"))
            // The form, the order, the facet and its link keep both.
            for name in ["of", "via"] { #expect(mayor.ranges(of: "name=\"\(name)\" value=").count == 4, "\(name)") }
            let ordered = try await browser.page(PageText.link(mayor, "dir=\"auto\">population<"))
            #expect(ordered.contains("3 rows on this page"))
            let counted = try await browser.page(PageText.link(mayor, ">Count all values<"))
            let again = try await browser.page(PageText.link(counted, "dir=\"auto\">Jane</a> <span class=\"number\">3<"))
            #expect(again.contains("3 rows on this page") && again.ranges(of: "name=\"of\" value=").count == 4)
            let csv = try await browser.request("GET", PageText.link(mayor, "data-format=\"csv\""))
            #expect(csv.text.split(whereSeparator: \.isNewline).count == 4)
            // A link whose items are in another order, and one of several without a relationship.
            #expect(try await browser.page("/rows?via=cities&of=Country%2F2&entity=City").contains("1 row on this page"))
            let refused = try await browser.request("GET", "/rows?entity=City&of=Country%2F2&of=Country%2F1&via=cities")
            #expect(refused.status == 400)
        }
    }

    @Test func facetOfManyTextsIsStreamedAlsoWithAnIndex() async throws {
        try await RunningBrowser.run(cities: 1, forWriting: true) { browser in
            #expect(try await !browser.page("/rows?entity=Country&facet=name").contains("data-events"))
            try await browser.store.stack.perform { transaction in
                for number in 0..<150 { _ = try transaction.create("Country", ["name": .text("Country \(number)")]) }
            }
            let page = try await browser.page("/rows?entity=Country&facet=name")
            #expect(page.contains("50 rows on this page"))
            let address = try #require(page.firstMatch(of: /data-events="([^"]*)"/)).1.replacingOccurrences(of: "&amp;", with: "&")
            #expect(try await browser.request("GET", address).text.contains("event: ended\ndata: 153 objects counted."))
        }
    }

    @Test func facetOfAPropertyWithoutValuesSaysSoBesideTheRows() async throws {
        try await RunningBrowser.run(cities: 1) { browser in
            for property in ["flag", "cities", "nothing"] {
                let page = try await browser.page("/rows?entity=Country&facet=\(property)")
                #expect(page.contains("3 rows on this page") && page.contains("\(property)&quot; of Country has no values to count"))
                #expect(!page.contains("id=\"\"") && !page.contains("data-events"))
            }
        }
    }

    @Test(arguments: [
        "population / 10000 as tens", "population / 10000", "name", "country", "mayor", "country.name", "uppercase(name) as loud",
    ])
    func groupLeadsToTheObjectsThatItCounts(_ key: String) async throws {
        try await RunningBrowser.run(cities: 30) { browser in
            let page = try await browser.page("/groups?entity=City&by=\(PageText.encoded(key))&chart=none")
            let rows = page.matches(of: /<th scope="row"><a href="([^"]*)"[^>]*>[^<]*<\/a><\/th><td class="number">([0-9]+)</)
            #expect(!rows.isEmpty)
            for row in rows.prefix(3) {
                let group = try await browser.page(row.1.replacingOccurrences(of: "&amp;", with: "&"))
                #expect(group.contains("\(row.2) row\(row.2 == "1" ? "" : "s") on this page"))
            }
        }
    }

    @Test func wholeValuesAreThoseOfTheObjectItself() async throws {
        try await RunningBrowser.run(cities: 1) { browser in
            let own = try await browser.page("/rows?entity=Country&column=flag%20as%20picture&column=notes%20as%20name")
            let image = try #require(own.firstMatch(of: /<img src="([^"]*)"/)).1.replacingOccurrences(of: "&amp;", with: "&")
            #expect(try await browser.request("GET", image).body == TestStore.png)
            let notes = try await browser.request("GET", PageText.link(own, ">Whole text of 2000 bytes<"))
            #expect(notes.text == String(repeating: "long ", count: 400))
            let path = try await browser.page("/rows?entity=City&column=country.flag&column=country.notes&column=name")
            #expect(!path.contains("/value?") && !path.contains("<img") && path.contains("\(TestStore.png.count) bytes"))
            // A calculation has the title of an attribute.
            let long = try await browser.page("/rows?entity=Country&column=uppercase(notes)%20as%20name")
            #expect(!long.contains("/value?") && long.contains("LONG"))
        }
    }
}
