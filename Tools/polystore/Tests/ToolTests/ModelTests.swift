import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import StoreTesting
import Testing

/// Classes for databases that are not stores, and the import of their rows.
@Suite struct ModelTests {
    /// Returns a folder with a database `shop.db`. Python's module of SQLite makes it; without Python the tests are skipped.
    private static func folder() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        let script = """
            import sqlite3
            db = sqlite3.connect("shop.db")
            db.executescript('''
            CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT NOT NULL, born DATE);
            CREATE TABLE "order" (id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customer (id) ON DELETE CASCADE, total DECIMAL(10,2), CHECK (total > 0));
            CREATE VIEW sums AS SELECT customer_id, sum(total) FROM "order" GROUP BY customer_id;
            ''')
            db.executemany("INSERT INTO customer VALUES (?, ?, ?)", [(i, f"n{i}", "2001-01-01") for i in range(1, 1201)])
            db.executemany('INSERT INTO "order" VALUES (?, ?, ?)', [(i, 1 + i % 1200, i + 0.25) for i in range(1, 2401)])
            db.commit()
            """
        try script.write(toFile: folder.path + "/make.py", atomically: true, encoding: .utf8)
        try Tool.run("python3 make.py", in: folder).succeeded()
        return folder
    }

    private static let hasPython = ["/usr/bin/python3", "/usr/local/bin/python3", "/opt/homebrew/bin/python3"].contains {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: hasPython)) func sourceOfTheClassesIsPrinted() throws {
        let folder = try Self.folder()
        let result = try Tool.run("polystore model shop.db --access public", in: folder)
        #expect(result.status == 0, "\(result.errors)")
        let expected = """
            import Foundation
            import PolyStore

            @Model
            public final class Customer {
                @Attribute(.unique) public var id: Int
                public var name: String
                public var born: Date?
                @Relationship(deleteRule: .cascade, inverse: "customer") public var orders: Set<Order>
            }

            @Model
            public final class Order {
                @Attribute(.unique) public var id: Int
                @Relationship(inverse: "orders", required: true) public var customer: Customer?
                public var total: Decimal?
            }

            extension Schema {
                public static let shop = Schema("shop", Customer.self, Order.self)
            }

            """
        #expect(result.output == expected)
        #expect(
            result.errors == """
                note: order has the rule CHECK (total > 0), which is not part of the schema. Write it as a rule or in validate().
                note: sums is a view, which has no rows of its own. An export creates it.

                """)
        let written = try Tool.run("polystore model shop.db --access public --output Shop.swift 2>/dev/null; cat Shop.swift", in: folder)
        #expect(written.output == "Wrote 2 classes to Shop.swift.\n" + expected)
    }

    @Test(.enabled(if: hasPython), arguments: Engine.available) func rowsAreImportedIntoAStoreOfEachEngine(_ engine: Engine) throws {
        let folder = try Self.folder()
        let store = engine.url(folder, "shop")
        let result = try Tool.run("polystore model shop.db --import-into \"$STORE\"", in: folder, ["STORE": store])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.output == "customer  1200\norder  2400\nImported 3 600 rows into \(store).\n")
        let rows = try Tool.run(
            "polystore query \"$STORE\" Order \"customer.name == 'n8'\" --columns 'id, total, customer.born' --format csv", in: folder,
            ["STORE": store])
        #expect(
            rows.output.split(whereSeparator: \.isNewline).dropFirst().map { $0.prefix(8) } == ["7,7.25,2", "1207,120"],
            "\(rows.output) \(rows.errors)"
        )
        let again = try Tool.run("polystore model shop.db --import-into \"$STORE\"", in: folder, ["STORE": store])
        #expect(again.status == 2)
        #expect(again.errors.contains("The store has 1200 objects of Customer"))
        #expect(
            try Tool.run("polystore count \"$STORE\" Order", in: folder, ["STORE": store]).output == "2400\n", "the objects are unchanged")
    }

    @Test(.enabled(if: hasPython)) func whatCannotBeDoneIsNamed() throws {
        let folder = try Self.folder()
        let library = try Engine.sqlite.makeLibrary(in: folder)
        let cases: [(command: String, status: Int32, message: String)] = [
            ("model none.db", 3, "There is no database file at none.db"), ("model make.py", 3, "is not a database of SQLite"),
            ("model '\(library.dropFirst(7))'", 2, "schema --format swift"), ("model shop.db --output make.py", 2, "\"make.py\" exists"),
            ("model shop.db --output nowhere/x.swift", 4, "cannot be written"),
            ("model shop.db --import-into thing", 2, "The engine of \"thing\""),
            ("model shop.db --namespace 'a b'", 2, "\"a b\" cannot be the name"),
            ("model shop.db --import-into '\(library)'", 3, "library"),
            ("model shop.db --import-into sqlite:nowhere/x", 3, "nowhere/x"),
        ]
        for (command, status, message) in cases {
            let result = try Tool.run("polystore \(command)", in: folder)
            #expect(result.status == status, "\(command): \(result.errors)")
            #expect(result.errors.contains(message), "\(command): \(result.errors)")
        }
        #expect(try Tool.run("polystore count '\(library)' Book", in: folder).output == "3\n")
    }

    /// However far it is: all rows are in the store, or there is nothing of it.
    @Test(.enabled(if: hasPython), arguments: Engine.files, [0, 0.05, 0.3]) func interruptedImportLeavesNothing(
        _ engine: Engine, _ delay: Double
    ) throws {
        let output = try signalled("INT", engine, delay)
        // A process that has not begun yet ends by the signal itself.
        #expect(["130\nnone\n", "0\n2400\n"].contains(output), "\(output)")
    }

    @Test(.enabled(if: hasPython), arguments: Engine.files, [0.1, 0.2, 0.4]) func storeOfAKilledImportIsWholeOrAbsent(
        _ engine: Engine, _ delay: Double
    ) throws {
        let output = try signalled("KILL", engine, delay)
        #expect(["137\nnone\n", "0\n2400\n", "137\n2400\n"].contains(output), "\(output)")
    }

    /// Imports into a store, sends the process a signal, and returns its exit code and the number of objects; "none" without a store.
    private func signalled(_ signal: String, _ engine: Engine, _ delay: Double) throws -> String {
        let folder = try Self.folder()
        let result = try Tool.run(
            """
            "$POLYSTORE" model shop.db --import-into '\(engine.url(folder, "shop"))' >/dev/null 2>&1 & tool=$!
            sleep \(delay); kill -\(signal) $tool; wait $tool; echo $?
            if [ -e shop.\(engine.rawValue) ]; then "$POLYSTORE" count '\(engine.url(folder, "shop"))' Order; else echo none; fi
            [ \(signal) = KILL ] || ls | grep unfinished
            """, in: folder)
        return result.output
    }
}

/// The advice of `explain`.
@Suite struct AdviceTests {
    @Test(arguments: Engine.available) func explainNamesTheIndexThatAQueryNeeds(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        func advice(_ query: String) throws -> [String] {
            let result = try Tool.run("polystore explain \"$STORE\" \(query) --advise", in: folder, ["STORE": url])
            #expect(result.status == 0, "\(result.errors)")
            return result.output.split(separator: "\n").map(String.init).filter { $0.hasPrefix("advice: ") }
        }
        #expect(try advice("Author \"born == nil\"") == ["advice: @Attribute(.indexed) var born in Author: 1 row read instead of 3"])
        #expect(try advice("Author") == ["advice: no index of Author would reduce the rows of it that are read"])
        let plain = try Tool.run("polystore explain \"$STORE\" Author", in: folder, ["STORE": url])
        #expect(!plain.output.contains("advice"))
    }
}
