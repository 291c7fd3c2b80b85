import Foundation
import PolyStore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import StoreTesting
import Testing

/// Mistakes that would lose data or hide a difference are refused and named.
@Suite struct LossTests {
    // MARK: Migrations

    /// The schema of the next version, in which pages are pageCount and homepages are gone.
    private static let next = """
        polystore schema "$STORE" --format json > now.json
        sed 's/"pages"/"pageCount"/g; s/Library 1/Library 2/' now.json > next.json
        """

    @Test(arguments: Engine.available)
    func migrationThatLosesValuesNeedsPermission(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let result = try Tool.run(
            """
            \(Self.next)
            polystore migrate "$STORE" --to next.json; echo "[$?]"
            polystore migrate "$STORE" --to next.json --rehearse > report.txt; echo "[$?]"; grep ^lost report.txt
            polystore query "$STORE" Book --columns "code, pages" --order code --format csv | tr -d '\\r'
            polystore migrate "$STORE" --to next.json --allow-loss > report.txt; echo "[$?]"; grep ^lost report.txt
            polystore schema "$STORE" | head -1
            """, in: folder, ["STORE": url], mergesErrors: true)
        #expect(
            result.output == """
                polystore: The migration would lose data, and the store was left as it is. The values of Publication.pages are removed. (3 objects) Name what was renamed with --rename, or \
                pass --allow-loss.
                [4]
                polystore: The migration would be refused without --allow-loss.
                [1]
                lost: The values of Publication.pages are removed. (3: 1, 2, 3)
                code,pages
                b1,32767
                b2,-32768
                b3,0
                [0]
                lost: The values of Publication.pages are removed. (3: 1, 2, 3)
                Schema Library 2

                """, "\(engine): \(result.output)")
    }

    @Test func oldNamesOfARenameAreThoseOfTheStore() throws {
        let folder = try TemporaryFolder()
        let url = try Engine.sqlite.makeLibrary(in: folder)
        let result = try Tool.run(
            """
            \(Self.next)
            renamed() { polystore migrate "$STORE" --to next.json "$@" > out.txt; echo "[$?]"; }
            renamed --rename Book.pageCount=page
            renamed --rename Book.pageCount=Author.pages
            renamed --rename Book.pageCount=Author.name
            renamed --rename Book.pageCount=pages --rename Book.pageCount=title
            renamed --rename Book=Bok
            renamed --rename Book.pageCount=Magazine.pages --rehearse
            renamed --rename Book.pageCount=Book.pages
            renamed --rename Book.pageCount=pages
            polystore query "$STORE" Book --columns pageCount --order code --format csv | tr -d '\\r'
            """, in: folder, ["STORE": url], mergesErrors: true)
        #expect(
            result.output == """
                polystore: --rename "Book.pageCount=page": Publication has no property "page" in the store. Did you mean "pages"?
                [2]
                polystore: --rename "Book.pageCount=Author.pages": "Author" is not "Publication". A property keeps its values in its entity only.
                [2]
                polystore: --rename "Book.pageCount=Author.name": "Author" is not "Publication". A property keeps its values in its entity only.
                [2]
                polystore: --rename "Book.pageCount=title" and --rename "Book.pageCount=pages" name one part twice: keep one of them.
                [2]
                polystore: --rename "Book=Bok": the store has no entity "Bok". Did you mean "Book"?
                [2]
                [0]
                [0]
                [0]
                pageCount
                32767
                -32768
                0

                """, "\(result.output)")
    }

    // MARK: Differences

    /// A letter has several forms in Unicode, which Swift takes for equal and stores do not.
    @Test(arguments: Engine.available)
    func differencesInBytesAreDifferences(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let (url, other) = (try engine.makeLibrary(in: folder), try engine.makeLibrary(in: folder, "other"))
        let result = try Tool.run(
            #"""
            printf '{"code":"b1","title":"caf\u00e9","tags":["\u00e9"]}\n' | polystore import "$STORE" Book - > out.txt
            printf '{"code":"b1","title":"cafe\u0301","tags":["e\u0301"]}\n' | polystore import "$OTHER" Book - > out.txt
            polystore diff "$STORE" "$OTHER" --entity Book | head -3; echo "[${PIPESTATUS[0]}]"
            printf '{"name":"\u00e9"}\n' | polystore import "$STORE" Publisher - > out.txt
            printf '{"name":"e\u0301"}\n' | polystore import "$OTHER" Publisher - > out.txt
            polystore diff "$STORE" "$OTHER" --entity Publisher; echo "[$?]"
            """#, in: folder, ["STORE": url, "OTHER": other], mergesErrors: true)
        let expected = """
            ~ Book b1
                title: caf\u{e9} → cafe\u{301}
                tags: ["\u{e9}"] → ["e\u{301}"]
            [1]
            - Publisher \u{e9}
                name: \u{e9}
                rank: 0
            + Publisher e\u{301}
                name: e\u{301}
                rank: 0
            1 added, 1 removed, 0 changed.
            [1]

            """
        #expect(Array(result.output.utf8) == Array(expected.utf8), "\(engine): \(result.output)")
    }

    private static func stack(_ url: String, history: HistoryOptions?) throws -> DataStack {
        let stack = try DataStack(Library.schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL]), history: history)
        return stack
    }

    private static func setPages(_ pages: Int16, _ stack: DataStack) throws {
        try stack.performAndWait { try #require(try $0.fetchOne(From<Book>().where("code == 'b1'"))).pages = pages }
    }

    @Test(arguments: Engine.available)
    func differencesSinceADeletedPartOfTheHistoryAreRefused(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let stack = try Self.stack(url, history: HistoryOptions())
        try Self.setPages(1, stack)
        let token = try stack.historyTokenAndWait()
        try stack.performAndWait { _ = try $0.deleteAll(From<Magazine>()) }
        try Self.setPages(2, stack)
        let complete = "polystore diff '\(url)' --since 2001-01-01"
        if engine != .leveldb { #expect(try Tool.run(complete, in: folder).output.contains("- Magazine 4")) }
        try stack.deleteHistoryAndWait(before: token)
        try stack.closeAndWait()
        let result = try Tool.run("\(complete); echo \"[$?]\"; polystore diff '\(url)' --since 2100-01-01; echo \"[$?]\"", in: folder)
        #expect(result.output == "[4]\nNo difference was found.\n[0]\n", "\(engine): \(result.output) \(result.errors)")
        #expect(result.errors.contains("earlier entries were deleted"), "\(engine): \(result.errors)")
        let emptied = try Self.stack(url, history: nil)
        try emptied.deleteHistoryAndWait(before: try emptied.historyTokenAndWait())
        try emptied.closeAndWait()
        let none = try Tool.run(complete, in: folder)
        #expect(none.status == 4 && none.errors.contains("was deleted"), "\(engine): \(none.output) \(none.errors)")
    }

    @Test(arguments: Engine.available)
    func commitsWithoutHistoryAreReported(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let recording = try Self.stack(url, history: HistoryOptions())
        try Self.setPages(1, recording)
        try recording.closeAndWait()
        let token = "token=$(polystore history '\(url)' | tail -1 | cut -d' ' -f2)"
        let before = try Tool.run("\(token); echo $token > token.txt; polystore diff '\(url)' --since $token; echo \"[$?]\"", in: folder)
        #expect(before.output == "No difference was found.\n[0]\n" && before.errors == "", "\(engine): \(before.output) \(before.errors)")
        let silent = try Self.stack(url, history: nil)
        try Self.setPages(2, silent)
        try silent.closeAndWait()
        for since in ["$(cat token.txt)", "2100-01-01"] {
            for entity in ["", " --entity Author"] {
                let result = try Tool.run("polystore diff '\(url)' --since \(since)\(entity); echo \"[$?]\"", in: folder)
                #expect(result.output == "No recorded difference was found.\n[1]\n", "\(engine): \(result.output)")
                #expect(result.errors.contains("The history has gaps"), "\(engine): \(result.errors)")
            }
        }
        let again = try Self.stack(url, history: HistoryOptions())
        try Self.setPages(3, again)
        try again.closeAndWait()
        // The entry after the commit has the mark, also if it is not among those that are printed.
        let marked = try Tool.run("polystore diff '\(url)' --since $(cat token.txt) --entity Author; echo \"[$?]\"", in: folder)
        #expect(marked.output == "No recorded difference was found.\n[1]\n", "\(engine): \(marked.output) \(marked.errors)")
        // A token after it covers the store as it is.
        let after = try Tool.run("\(token); polystore diff '\(url)' --since $token; echo \"[$?]\"", in: folder)
        #expect(after.output == "No difference was found.\n[0]\n" && after.errors == "", "\(engine): \(after.output) \(after.errors)")
    }
}
