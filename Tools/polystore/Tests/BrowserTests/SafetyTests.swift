import Foundation
import StoreBrowser
import Testing

/// Requests that a page of another site, or a program without the token, can send.
@Suite struct SafetyTests {
    /// A request that is not that of the browser of the user, and the status it gets.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        var method = "GET"
        var target = "/"
        var headers: [String: String] = [:]
        let status: Int

        var testDescription: String { name }
    }

    static let refused = [
        Case(name: "no token", headers: ["Cookie": ""], status: 403),
        Case(name: "wrong token in the cookie", headers: ["Cookie": "polystore-1=00000000000000000000000000000000"], status: 403),
        Case(name: "wrong token in the address", target: "/?token=00", headers: ["Cookie": ""], status: 403),
        Case(name: "empty token in the address", target: "/?token=", headers: ["Cookie": ""], status: 403),
        Case(name: "wrong bearer", headers: ["Cookie": "", "Authorization": "Bearer x"], status: 403),
        Case(name: "no token for a style sheet", target: "/assets/browser.css", headers: ["Cookie": ""], status: 403),
        Case(name: "no token for a page that does not exist", target: "/nothing", headers: ["Cookie": ""], status: 403),
        Case(name: "host of another site", headers: ["Host": "evil.example"], status: 421),
        Case(name: "host of another site with the port", headers: ["Host": "evil.example:PORT"], status: 421),
        Case(name: "another port", headers: ["Host": "127.0.0.1:1"], status: 421),
        Case(name: "no port", headers: ["Host": "localhost"], status: 421),
        Case(name: "an address that only begins like this one", headers: ["Host": "127.0.0.1.evil.example:PORT"], status: 421),
        Case(name: "a port that is no number", headers: ["Host": "localhost:x"], status: 421),
        Case(name: "origin of another site", headers: ["Origin": "http://evil.example"], status: 403),
        Case(name: "origin of another port", headers: ["Origin": "http://127.0.0.1:1"], status: 403),
        Case(name: "origin without a name", headers: ["Origin": "null"], status: 403),
        Case(name: "fetch from another site", headers: ["Sec-Fetch-Site": "cross-site"], status: 403),
        Case(name: "fetch from another port", headers: ["Sec-Fetch-Site": "same-site"], status: 403),
        Case(name: "method PUT", method: "PUT", status: 405), Case(name: "method DELETE", method: "DELETE", status: 405),
        Case(name: "method OPTIONS", method: "OPTIONS", status: 405),
        Case(name: "a page that does not exist", target: "/nothing", status: 404),
        Case(name: "a path out of the pages", target: "/../../etc/passwd", status: 404),
        Case(name: "an escape that is none", target: "/rows?entity=%zz", status: 400),
        Case(name: "an escape that is not UTF-8", target: "/rows?entity=%ff", status: 400),
        Case(name: "a form for a store that is read-only", method: "POST", target: "/edit?entity=Country&id=1", status: 403),
    ]

    @Test(arguments: refused) func requestIsRefused(_ one: Case) async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            let headers = one.headers.mapValues { $0.replacingOccurrences(of: "PORT", with: "\(browser.port)") }
            let answer = try await browser.request(one.method, one.target, headers)
            #expect(answer.status == one.status, "\(answer.text)")
            #expect(!answer.text.contains("Country"), "The answer shows the store.")
            Self.expectSafety(answer)
        }
    }

    /// Requests that neither know the token nor, some of them, the host, and that fail in other ways too.
    static let strangers: [(method: String, target: String, host: String)] = [
        ("GET", "/?%zz", "127.0.0.1:PORT"), ("GET", "/?%zz", "evil.example"), ("GET", "/rows?entity=%ff", "127.0.0.1:PORT"),
        ("PUT", "/", "127.0.0.1:PORT"), ("DELETE", "/nothing?%", "evil.example"), ("POST", "/edit?%zz", "127.0.0.1:PORT"),
        ("GET", "/nothing", "127.0.0.1:PORT"),
    ]

    @Test(arguments: strangers)
    func answerWithoutTheTokenDoesNotNameTheStore(_ one: (method: String, target: String, host: String)) async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            let host = one.host.replacingOccurrences(of: "PORT", with: "\(browser.port)")
            let answer = try await browser.request(one.method, one.target, ["Host": host, "Cookie": ""])
            #expect([403, 405, 421].contains(answer.status))
            #expect(!answer.text.contains("atlas"), "\(answer.text)")
            #expect(answer.headers["content-type"]?.hasPrefix("text/plain") == true)
        }
    }

    @Test(arguments: ["0", "0.0.0.0"]) func serverOfAllInterfacesAnswersUnderAnyAddress(_ host: String) async throws {
        let listen: (inout BrowserOptions) -> Void = { $0.host = host }
        try await RunningBrowser.run(cities: 3, change: listen) { browser in
            let permitted = try await browser.request("GET", "/", ["Host": "192.0.2.1:\(browser.port)"])
            #expect(permitted.status == 200)
            let foreign = try await browser.request("GET", "/", ["Host": "evil.example:\(browser.port)"])
            #expect(foreign.status == 421)
        }
    }

    @Test func tokenOfTheAddressBecomesACookie() async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            let entrance = try await browser.request("GET", "/rows?entity=City&token=\(browser.token)", ["Cookie": ""])
            #expect(entrance.status == 303)
            #expect(entrance.headers["location"] == "/rows?entity=City")
            let cookie = try #require(entrance.headers["set-cookie"])
            #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
            let value = String(cookie.prefix { $0 != ";" })
            #expect(try await browser.request("GET", "/rows?entity=City", ["Cookie": "other=1; \(value)"]).status == 200)
        }
    }

    @Test func linkOfAnotherSiteWithTheTokenLeadsToThePage() async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            let headers = ["Cookie": "", "Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"]
            let answer = try await browser.request("GET", "/?token=\(browser.token)", headers)
            #expect(answer.status == 200)
            #expect(answer.headers["set-cookie"] != nil)
            #expect(answer.text.contains("content=\"0;url=/\""))
            // Only as a page that the user opens, and never as data.
            let data = try await browser.request(
                "GET", "/rows.json?entity=City&token=\(browser.token)", ["Cookie": "", "Sec-Fetch-Site": "cross-site"])
            #expect(data.status == 403)
        }
    }

    @Test(arguments: ["127.0.0.1:PORT", "localhost:PORT", "LOCALHOST:PORT", "[::1]:PORT"])
    func addressesOfThisMachineAreAnswered(_ host: String) async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            let name = host.replacingOccurrences(of: "PORT", with: "\(browser.port)")
            let answer = try await browser.request("GET", "/", ["Host": name])
            #expect(answer.status == 200)
        }
    }

    @Test func tokenInAHeaderIsAnsweredForPrograms() async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            let answer = try await browser.request("GET", "/.json", ["Cookie": "", "Authorization": "Bearer \(browser.token)"])
            #expect(answer.status == 404)
            let entities = try await browser.request("GET", "/entities.json", ["Cookie": "", "Authorization": "Bearer \(browser.token)"])
            #expect(entities.status == 200)
        }
    }

    @Test func everyAnswerHasTheHeadersOfSafety() async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            for target in [
                "/", "/rows?entity=City", "/assets/browser.css", "/assets/browser.js", "/entities.json", "/object?entity=City&id=1",
            ] {
                let answer = try await browser.request("GET", target)
                #expect(answer.status == 200, "\(target)")
                Self.expectSafety(answer)
            }
        }
    }

    private static func expectSafety(_ answer: HTTPConnection.Answer) {
        let policy = answer.headers["content-security-policy"] ?? ""
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
        #expect(!policy.contains("unsafe"))
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["cache-control"] == "no-store")
        #expect(answer.headers["access-control-allow-origin"] == nil)
    }

    @Test func pagesContainNoScriptOrStyleOfTheirOwn() async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            for target in ["/", "/rows?entity=Country", "/object?entity=Country&id=1"] {
                let page = try await browser.page(target)
                #expect(page.firstMatch(of: /<script(?! src="\/assets\/browser\.js" defer><\/script>)/) == nil, "\(target)")
                // The names of attributes, without their values and the text between tags.
                let tags = page.replacing(/"[^"]*"/, with: "").matches(of: /<[a-z][^>]*>/).map { String($0.0) }
                #expect(!tags.contains { $0.contains(/^<style|\sstyle=|\son[a-z]+=/) }, "\(target)")
            }
        }
    }

    @Test func headIsAnsweredWithoutABody() async throws {
        try await RunningBrowser.run(cities: 3) { browser in
            let answer = try await browser.request("HEAD", "/")
            #expect(answer.status == 200)
            #expect(answer.body.isEmpty)
        }
    }

    @Test func formWithoutItsTokenChangesNothing() async throws {
        try await RunningBrowser.run(cities: 3, forWriting: true) { browser in
            for body in ["", "form-token=", "form-token=0", "form-token=\(browser.token)"] {
                let answer = try await browser.request("POST", "/edit?entity=Country&id=1", body: body + "&value%3Aname=changed")
                #expect(answer.status == 403)
            }
            #expect(try await browser.page("/object?entity=Country&id=1").contains("France"))
        }
    }
}
