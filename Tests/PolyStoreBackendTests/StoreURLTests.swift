import PolyStoreBackend
import SeededRandom
import Testing

@Suite struct StoreURLTests {
    @Test(
        arguments: [
            ("sqlite:company.sqlite", "sqlite", "company.sqlite", [:]),
            (
                "lmdb:/var/lib/a b.lmdb?mapSize=256g&durability=relaxed", "lmdb", "/var/lib/a b.lmdb",
                ["mapSize": "256g", "durability": "relaxed"]
            ),
            ("leveldb:///data/x", "leveldb", "/data/x", [:]),
            ("memory:", "memory", "", [:]),
            ("my-engine2:C:/x", "my-engine2", "C:/x", [:]),
            ("sqlite:100%25%3F.db?a=%26b", "sqlite", "100%?.db", ["a": "&b"]),
            ("sqlite:%E5%90%8D.db?", "sqlite", "名.db", [:]),
            ("sqlite:x?empty=", "sqlite", "x", ["empty": ""]),
        ] as [(String, String, String, [String: String])])
    func validTextIsParsed(_ text: String, _ engine: String, _ location: String, _ options: [String: String]) throws {
        let url = try StoreURL(text)
        #expect(url.engine == engine)
        #expect(url.location == location)
        #expect(url.options == options)
        #expect(url.text == text)
    }

    @Test(arguments: [
        "", ":", "company.sqlite", ":x", "SQLite:x", "sq lite:x", "sqlite://host:x/y", "sqlite:100%", "sqlite:100%2", "sqlite:%zz",
        "sqlite:%00", "sqlite:%FF",
        "sqlite:x?a", "sqlite:x?=b", "sqlite:x?a=1&a=2", "sqlite:x?a=%", "sqlite:x\0y",
    ])
    func invalidURLsAreNamedInTheError(_ text: String) throws {
        let error = #expect(throws: StoreError.self) { try StoreURL(text) }
        #expect(error?.code == .misuse)
        #expect(error?.message.hasPrefix("\"\(text)\" is not a store URL") ?? false)
    }

    @Test(
        arguments: [
            ("pg://jane:secret@db.example.com:5432/company?sslmode=require", ["db.example.com:5432"], "jane", "secret", "company"),
            ("pg://jane@[::1],[fe80::2]:5433/company", ["::1:-", "fe80::2:5433"], "jane", nil, "company"),
            ("pg://h", ["h:-"], nil, nil, ""), ("pg://", [], nil, nil, ""), ("pg://jane@/db", [], "jane", nil, "db"),
            ("pg://a%40b:p%3Aw%2F%3F%2C%25@h:1/d%2Fb", ["h:1"], "a@b", "p:w/?,%", "d/b"), ("pg://:@h:/", ["h:-"], "", "", ""),
            ("pg://%2Fvar%2Frun,:5433/x", ["/var/run:-", ":5433"], nil, nil, "x"),
            ("pg://me:hun@ter2@host/db", ["host:-"], "me", "hun@ter2", "db"),
        ] as [(String, [String], String?, String?, String)])
    func serversAreParsed(_ text: String, _ hosts: [String], _ user: String?, _ password: String?, _ location: String) throws {
        let url = try StoreURL(text)
        let server = try #require(url.server)
        #expect(server.hosts.map { "\($0.name):\($0.port.map(String.init) ?? "-")" } == hosts)
        #expect(server.user == user)
        #expect(server.password?.value == password)
        #expect(url.location == location)
        #expect(url.text == text)
    }

    @Test(arguments: [
        "pg://h:x/db", "pg://h:0/db", "pg://h:65536/db", "pg://h:-1/db", "pg://[::1/db", "pg://[::1]x/db", "pg://h/d@b", "pg://h/db?a=b@c",
        "pg://%zz/db",
        "pg://a:%zz@h/db", "pg://me:1234/x@host", "pg://me:12?a=34@host", "pg://host:1/db?password=ab@c34",
    ])
    func invalidServersAreRefused(_ text: String) throws {
        let error = try #require(throws: StoreError.self) { try StoreURL(text) }
        #expect(error.code == .misuse)
        #expect(!error.message.contains("34"))
    }

    @Test func equalStoresHaveEqualLocations() throws {
        func location(_ text: String) throws -> String { try StoreURL(text).serverLocation(defaultPort: 5432, namedBy: ["schema"]) }
        for text in ["pg://DB.example.com/c", "pg://jane:secret@db.example.com:5432/c?sslmode=require", "pg://db.example.com:5432/%63"] {
            #expect(try location(text) == "pg://db.example.com:5432/c")
        }
        #expect(try location("pg:///c") == "pg://localhost:5432/c")
        #expect(try location("pg://jane@/c") == "pg://localhost:5432/c")
        #expect(try location("pg://[::1],h:1/a%20b?schema=s%26&x=y") == "pg://[::1]:5432,h:1/a%20b?schema=s%26")
        #expect(try location("pg://%2Frun/c") == "pg://%2Frun:5432/c")
        // The case of a path counts.
        #expect(try location("pg://%2FRun/c") == "pg://%2FRun:5432/c")
        // A location is a URL of the same store.
        #expect(try location(location("pg://[::1],h:1/a%20b?schema=s%26&x=y")) == "pg://[::1]:5432,h:1/a%20b?schema=s%26")
    }

    @Test func localEnginesRefuseServers() throws {
        let error = try #require(throws: StoreError.self) { try engines.configuration("fake://jane:hunter2@host/x") }
        #expect(error.code == .misuse)
        #expect(error.message.contains("names a host") && !"\(error)".contains("hunter2"), "\(error)")
    }

    @Test func dumpsShowNoPassword() throws {
        let url = try StoreURL("pg://jane:hunter2@host/db?sslpassword=hunter3")
        var texts = ["\(url)", String(reflecting: url), "\(url.server as Any)", String(reflecting: url.server)]
        for value in [url, url.server as Any, url.server?.password as Any, url.secrets] as [Any] {
            var text = ""
            dump(value, to: &text)
            texts.append(text)
        }
        // The value of an option with an @ beside a user and a port.
        texts.append("\(try StoreURL("pg://jane@host:5432/db?password=hun@hunter2"))")
        texts.append("\(try StoreURL("pg://jane:hunter@host/db?sslpassword=hun@hunter2&token=hunter3"))")
        for text in texts { #expect(!text.contains("hunter"), "\(text)") }
        #expect(url.server?.password?.value == "hunter2")
        #expect("\(try StoreURL("pg://jane:x@host/db?mode=a&token=b&last=c"))" == "pg://jane:***@host/db?mode=a&token=***&last=c")
        // A driver can repeat the secrets as they are written.
        let escaped = try StoreURL("pg://jane:p%40s@host/db?token=a%26b&mode=c%26d")
        #expect(Set(escaped.secrets.map(\.value)) == ["p@s", "p%40s", "a&b", "a%26b"])
        #expect(url.options["sslpassword"] == "hunter3")
    }

    /// Neither the message nor the location of an error contains a password, also if the URL is malformed.
    @Test(arguments: [
        "postgres://me:hunter2@host/db", "postgres://me:hun?ter2@host/db", "postgres://me:hun/ter2@host", "postgres:me:hunter2@host?x",
        "Postgres://me:hunter2@host", "postgres://me:hunter2@host:5432/db?sslmode", "postgres://me:hun@ter2@host/db",
        "fake:x?password=hunter2", "fake:x?readOnly=perhaps&password=hunter2", "fake:x?durability=some&passphrase=hunter2",
        "fake:x?speed=3&Secret=hunter2&a", "fake:x?password=hun&ter2", "fake:x?password=hun&ter2&hunter2", "fake:x?password=hun;ter2",
        "fake:x?key=%zz&hunter2", "fake:x?apiToken=hunter2&apiToken=hunter2", "fake:x&token=hunter2?b", "fake:x?pass%77ord=hunter2&b",
        "fake:x?password=hunter2?", "fake:?password=hunter2", "other:x?encryptionKey=hunter2", "fake:x?speed=1&speed=2&pwd=hunter2",
        "fake:x\0?password=hunter2", "fake:x?password=hunter2=hunter2",
    ])
    func passwordsAreNotQuoted(_ text: String) throws {
        let error = try #require(throws: StoreError.self) { try engines.configuration(text) }
        for quoted in ["\(error)", error.message, error.location ?? "", error.underlying ?? ""] {
            for secret in ["hunter2", "ter2", "hun"] { #expect(!quoted.contains(secret), "\(quoted)") }
        }
        #expect(error.message.contains("***") && error.location?.contains("***") == true, "\(error)")
        if let url = try? StoreURL(text) {
            #expect(!"\(url)".contains("hunter2") && !"\(url)".contains("ter2"))
            #expect(url.text == text)
        }
    }

    /// Text without a secret is quoted as it is.
    @Test(arguments: [
        "sqlite:a@b.sqlite", "sqlite:///tmp/a.sqlite?durability=full", "lmdb:x?mapSize=256g&mail=a@b", "sqlite:a=b", "memory:", "x:C:/y",
    ])
    func textWithoutASecretIsQuoted(_ text: String) throws { #expect("\(try StoreURL(text))" == text) }

    @Test func byteCountsHaveUnits() {
        #expect(
            [0, 1023, 1024, 100_000, (1 << 20) - 1, 1 << 20, 64 << 20].map(\.byteCountText) == [
                "0 bytes", "1023 bytes", "1 KiB", "97 KiB", "1023 KiB", "1 MiB", "64 MiB",
            ])
    }

    @Test func numbersHaveBinaryUnits() throws {
        let url = try StoreURL("x:y?a=12&b=64k&c=3m&d=2g&e=-1&f=1t&g=99999999999g&h=+5&i=")
        #expect(try url.number("a") == 12)
        #expect(try url.number("b") == 65536)
        #expect(try url.number("c") == 3 << 20)
        #expect(try url.number("d") == 2 << 30)
        #expect(try url.number("z") == nil)
        for wrong in ["e", "f", "g", "h", "i"] {
            let error = #expect(throws: StoreError.self) { try url.number(wrong) }
            #expect(error?.message.contains("\(wrong)=") ?? false)
        }
    }

    /// Any text gives a URL or an error.
    @Test func anyTextGivesAURLOrAnError() {
        var random = SplitMix64(seed: 5)
        let alphabet: [Character] = ["a", ":", "/", "?", "&", "=", "%", "2", "5", "F", " ", "é", "\0", "-"]
        for _ in 0..<20_000 {
            let text = String((0..<Int(random.next() % 14)).map { _ in alphabet[Int(random.next() % UInt64(alphabet.count))] })
            do {
                let url = try StoreURL(text)
                #expect(!url.engine.isEmpty)
            } catch {
                #expect(error is StoreError)
            }
        }
    }

    private let engines = StoreEngines([
        StoreEngine(name: "fake", options: ["speed"]) { url in
            StoreConfiguration(engine: "fake", location: try url.path()) { _ in throw StoreError(.unsupported, "It is a fake.") }
        }
    ])

    @Test func anEngineIsChosenByName() throws {
        let store = try engines.configuration("fake:there?readOnly=true&durability=relaxed&speed=3&resetsOnModelMismatch=no")
        #expect(store.url == "fake:there")
        #expect(store.isReadOnly)
        #expect(store.durability == .relaxed)
        #expect(!store.resetsOnModelMismatch)
    }

    @Test(arguments: [
        ("other:x", StoreError.Code.unsupported, "fake"), ("fake:x?sped=3", .misuse, "speed"),
        ("fake:x?readOnly=perhaps", .misuse, "true or false"),
        ("fake:x?durability=some", .misuse, "relaxed"), ("fake:", .misuse, "names no file"),
    ])
    func invalidURLsAreReportedWithARemedy(_ text: String, _ code: StoreError.Code, _ word: String) {
        let error = #expect(throws: StoreError.self) { try engines.configuration(text) }
        #expect(error?.code == code)
        #expect(error?.message.contains(word) ?? false, "\(error?.message ?? "")")
    }

    @Test func registeredEnginesServeTheWholeProcess() throws {
        StoreEngines.register([
            StoreEngine(name: "registered-for-a-test") { _ in .init(engine: "r", location: "l") { _ in throw StoreError(.io, "") } }
        ])
        #expect(StoreEngines.registered.names.contains("registered-for-a-test"))
        #expect(try StoreEngines.registered.configuration("registered-for-a-test:").url == "r:l")
    }
}
