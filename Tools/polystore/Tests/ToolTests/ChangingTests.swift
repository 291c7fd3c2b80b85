import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import StoreTesting
import Testing

/// Import, export, migration, differences and history, on every engine.
@Suite struct ChangingTests {
    @Test(arguments: Engine.available, ["export", "import", "migrate"])
    func printsTheSameOnEveryEngine(_ engine: Engine, _ name: String) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        var transcript = try Transcript(name)
        try transcript.check(engine, url, in: folder)
    }

    /// An export of every entity that an import into an empty store of the same schema reads without a difference.
    @Test(arguments: Engine.available)
    func storesAreCopiedByExportAndImport(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let (url, copy) = (try engine.makeLibrary(in: folder), engine.url(folder, "copy"))
        let stack = try DataStack(Library.schema, logger: SilentLogger())
        try stack.addStore(url: copy, engines: StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL]))
        try stack.closeAndWait()
        let result = try Tool.run(
            """
            set -e
            # A date that ISO 8601 does not express.
            polystore export "$STORE" Author "name != 'Zoë'" -o authors.csv >&2
            for entity in Publisher Publication; do polystore export "$STORE" $entity -o $entity.jsonl >&2; done
            polystore import "$COPY" Author authors.csv --missing stub --ignore-unknown 2>&1 || true
            polystore import "$COPY" Publisher Publisher.jsonl 2>&1 || true
            """, in: folder, ["STORE": url, "COPY": copy])
        #expect(result.output.contains("would have no entity of it"), "stubs of a hierarchy are refused: \(result.output)")
        let second = try Tool.run(
            """
            set -e
            polystore import "$COPY" Author authors.csv --missing ignore
            polystore import "$COPY" Publisher Publisher.jsonl --missing ignore
            polystore import "$COPY" Publication Publication.jsonl
            polystore diff "$STORE" "$COPY" || echo "[$?]"
            """, in: folder, ["STORE": url, "COPY": copy])
        #expect(second.output.hasSuffix("1 removed, 0 changed.\n[1]\n"), "\(second.output) \(second.errors)")
        #expect(second.output.contains("- Author Zoë\n"))
    }

    @Test(arguments: Engine.available)
    func differencesOfTwoStoresArePrinted(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let copy = engine.url(folder, "copy")
        let result = try Tool.run(
            """
            polystore backup "$STORE" "$COPY" > /dev/null && polystore diff "$STORE" "$COPY"
            printf '{"code":"b1","pages":1,"publisher":null}\\n{"code":"b9","title":"tab\\\\t","tags":["x"]}\\n' | polystore import "$COPY" Book - > /dev/null
            polystore diff "$STORE" "$COPY"; echo "[$?]"
            polystore diff "$COPY" "$STORE" --format jsonl --entity Book; echo "[$?]"
            polystore diff "$STORE" "$COPY" --entity Author; echo "[$?]"
            polystore diff "$STORE" "$COPY" --entity Boook 2>&1; echo "[$?]"
            polystore diff "$STORE" 2> /dev/null; echo "[$?]"
            polystore diff "$STORE" sqlite:nothing 2> /dev/null; echo "[$?]"
            """, in: folder, ["STORE": url, "COPY": copy])
        #expect(
            result.output == #"""
                No difference was found.
                ~ Book b1
                    publisher: Publisher Small & "Sons" → –
                    pages: 32767 → 1
                + Book b9
                    title: tab\t
                    code: b9
                    tags: ["x"]
                    pages: 0
                ~ Publisher Small & "Sons"
                    publications: [Book b1, Book b3] → [Book b3]
                1 added, 0 removed, 2 changed.
                [1]
                {"kind":"changed","entity":"Book","object":"b1","old":{"publisher":null,"pages":1},"new":{"publisher":"Small & \"Sons\"","pages":32767}}
                {"kind":"removed","entity":"Book","object":"b9","old":{"title":"tab\t","code":"b9","tags":["x"],"pages":0}}
                [1]
                No difference was found.
                [0]
                polystore: \#(url) has no entity "Boook". Did you mean "Book"?
                [2]
                [2]
                [3]

                """#, "\(engine): \(result.output) \(result.errors)")
    }

    /// Stores of different engines and schemas are compared by what both have.
    @Test(arguments: Engine.available)
    func storesOfDifferentEnginesAreCompared(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let other = try (engine == .sqlite ? Engine.lmdb : .sqlite).makeLibrary(in: folder, "other")
        let same = try Tool.run("polystore diff '\(url)' '\(other)'", in: folder)
        #expect(same.output == "No difference was found.\n" && same.status == 0, "\(same.output) \(same.errors)")
        let changed = try Tool.run(
            """
            polystore schema '\(other)' --format json | sed 's/"rank"/"place"/; s/Library 1/Library 2/' > next.json
            polystore migrate '\(other)' --to next.json --rename Publisher.place=rank > /dev/null; polystore diff '\(url)' '\(other)'
            """, in: folder)
        #expect(changed.status == 1 && changed.output.contains("schema: Publisher.rank is gone\n"), "\(changed.output) \(changed.errors)")
        #expect(changed.output.hasSuffix("0 added, 0 removed, 0 changed.\n"))
    }

    // MARK: History

    /// Changes a library with its history recorded.
    private static func change(_ url: String, values: Bool = true) throws {
        let stack = try DataStack(Library.schema, logger: SilentLogger())
        try stack.addStore(
            url: url, engines: StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL]), history: HistoryOptions(recordsPreviousValues: values)
        )
        try stack.performAndWait(sourceIdentifier: "app") { transaction in
            try #require(try transaction.fetchOne(From<Book>().where("code == 'b1'"))).pages = 5
            try transaction.create(Author.self) {
                ($0.name, $0.token) = ("New", UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
            }
        }
        try stack.performAndWait { _ = try $0.deleteAll(From<Magazine>()) }
        try stack.closeAndWait()
    }

    @Test(arguments: Engine.available)
    func historyIsPrintedAndContinued(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let empty = try Tool.run("polystore history '\(url)'", in: folder)
        #expect(empty.status == 1 && empty.errors.contains("has no history"))
        try Self.change(url)
        let result = try Tool.run(
            #"""
            polystore history "$STORE" > all.txt; tail -1 all.txt | cut -d' ' -f1
            grep -v '^token\|^(commits' all.txt | sed 's/^[0-9T:.Z-]*  version [0-9]*/DATE/; s/inserted Author [0-9]*/inserted Author N/'
            token=$(polystore history "$STORE" --limit 1 | tail -1 | cut -d' ' -f2)
            polystore history "$STORE" --since "$token" --format jsonl | sed 's/.*"changes"://'
            polystore history "$STORE" --entity Publication --author app --limit 9 | grep -c updated
            polystore history "$STORE" --since 2100-01-01; echo "[$?]"
            polystore history "$STORE" --since yesterday; echo "[$?]"
            """#, in: folder, ["STORE": url], mergesErrors: true)
        #expect(
            result.output == #"""
                token
                DATE  by app
                  updated Book 1: pages (was 32767)
                  inserted Author N
                DATE
                  deleted Magazine 4
                  updated Publisher 2: publications
                [{"kind":"deleted","entity":"Magazine","objectID":4,"properties":[],"previous":{"code":"m1","issue":18446744073709551615,"publisher":2,"tags":["weekly"],"title":"今日"}},{"kind":"updated","entity":"Publisher","objectID":2,"properties":["publications"],"previous":{}}]}
                1
                polystore: No transaction was found.
                [1]
                polystore: --since "yesterday" is neither a token that history printed nor a date such as 2026-01-31 or 2026-01-31T08:00:00Z.
                [2]

                """#, "\(engine): \(result.output) \(result.errors)")
    }

    /// A diff since a token shows what has become of each object, and an import is recorded by a store with a history.
    @Test(arguments: Engine.available)
    func differencesSinceATokenArePrinted(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        try Self.change(url)
        let result = try Tool.run(
            #"""
            polystore diff "$STORE" --since 2001-01-01 --format jsonl > all.txt; status=$?
            sed 's/"Author","object":"[0-9]*"/"Author","object":"N"/' all.txt; echo "[$status]"
            token=$(polystore history "$STORE" | tail -1 | cut -d' ' -f2)
            polystore diff "$STORE" --since "$token"; echo "[$?]"
            printf 'code,pages\nb1,6\nb9,7\n' > books.csv; polystore import "$STORE" Book books.csv --author me
            polystore history "$STORE" --since "$token" | grep -c 'by me$'
            printf 'code,pages\nb1,5\n' > books.csv; polystore import "$STORE" Book books.csv
            polystore diff "$STORE" --since "$token" --entity Book > all.txt; status=$?
            sed 's/Book [0-9]*$/Book N/' all.txt; echo "[$status]"
            """#, in: folder, ["STORE": url], mergesErrors: true)
        #expect(
            result.output.contains(#"{"kind":"changed","entity":"Book","object":"1","old":{"pages":32767},"new":{"pages":5}}"#),
            "\(result.output)")
        #expect(result.output.contains(#"{"kind":"removed","entity":"Magazine","object":"4","old":{"code":"m1","#), "\(result.output)")
        #expect(result.output.contains(#"{"kind":"added","entity":"Author","object":"N","new":{"name":"New""#), "\(result.output)")
        #expect(
            result.output.contains(#""object":"2","old":{},"new":{"publications":[2]}}"#),
            "the former targets are not recorded: \(result.output)")
        #expect(
            result.output.hasSuffix(
                """
                [1]
                No difference was found.
                [0]
                Imported 2 records of Book: 1 inserted, 1 updated, 0 left out.
                1
                Imported 1 record of Book: 0 inserted, 1 updated, 0 left out.
                + Book N
                    title:\u{20}
                    code: b9
                    pages: 7
                1 added, 0 removed, 0 changed.
                [1]

                """), "\(engine): \(result.output)")
        #expect(!result.output.contains("~ Book 1"), "a value that was changed and changed back is not a difference: \(result.output)")
    }

    @Test(arguments: Engine.available.filter { $0 != .leveldb })
    func historyIsFollowedUntilAnInterruption(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        try Self.change(url)
        let result = try Tool.run(
            #"""
            set -m
            "$POLYSTORE" history "$STORE" --follow --author me > followed.txt 2> errors.txt & tool=$!
            printf 'code,pages\nb1,6\n' > books.csv
            # The command begins before or after the commit, and prints it in both cases.
            polystore import "$STORE" Book books.csv --author me
            until grep -q 'updated Book 1: pages' followed.txt; do kill -0 $tool || break; sleep 0.05; done
            kill -INT $tool; wait $tool; echo "[$?]"
            "$POLYSTORE" history "$STORE" --follow --author me --limit 1 | sed -n 2p
            """#, in: folder, ["STORE": url])
        #expect(result.output.contains("[130]\n  updated Book 1: pages"), "\(engine): \(result.output) \(result.errors)")
    }

    // MARK: Interruption

    /// However far it is: everything is imported, or nothing, and an export leaves a complete file or none.
    @Test(arguments: Engine.files, [0, 0.02, 0.1])
    func interruptionLeavesNothingHalfDone(_ engine: Engine, _ delay: Double) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let result = try Tool.run(
            """
            set -m
            seq 1 3000 | sed 's/.*/{"name":"p&"}/' > p.jsonl
            "$POLYSTORE" import "$STORE" Publisher p.jsonl > /dev/null 2>&1 & tool=$!
            sleep \(delay); kill -INT $tool; wait $tool; status=$?
            polystore count "$STORE" Publisher; echo $status
            "$POLYSTORE" export "$STORE" Publisher -o out.jsonl > /dev/null 2>&1 & tool=$!
            sleep \(delay); kill -INT $tool; wait $tool; status=$?
            if [ -e out.jsonl ]; then wc -l < out.jsonl; else echo none; fi; echo $status
            polystore verify "$STORE"
            """, in: folder, ["STORE": url])
        let lines = result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        try #require(lines.count == 5, "\(result.output) \(result.errors)")
        #expect(lines[0] == "2" && lines[1] == "130" || lines[0] == "3002" && ["0", "130"].contains(lines[1]), "\(lines)")
        #expect(lines[2] == "none" && lines[3] == "130" || lines[2] == lines[0] && ["0", "130"].contains(lines[3]), "\(lines)")
        #expect(lines[4] == "No damage was found.")
    }
}
