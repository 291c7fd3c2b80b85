import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreSQLite
import StoreTesting
import Testing

/// Full-text searches, and the repair of their indexes.
@Suite struct SearchTests {
    @Test(arguments: Engine.available)
    func searchesPrintTheSameOnEveryEngine(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try Letters.make(engine, in: folder)
        var transcript = try Transcript("search")
        try transcript.check(engine, url, in: folder)
    }

    @Test(arguments: Engine.available)
    func searchedNamesCanHaveAnyCharacter(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = engine.url(folder)
        let names = ["first name", "a.b", "any", "it's", "naïve", "#x", "日本", "OR"].filter(OddNames.attributes.contains)
        try OddNames.make(
            url, searchIndexes: [SearchIndexDescription(fields: ["name"]), SearchIndexDescription(name: "it's", fields: names)])
        var transcript = try Transcript("searchnames")
        try transcript.check(engine, url, in: folder)
    }

    /// A store without objects, and one that a search reads while another process has it open.
    @Test(arguments: Engine.available)
    func emptyStoreHasNoMatches(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = engine.url(folder)
        let stack = try DataStack(Letters.schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL]))
        // LevelDB permits one process at a time.
        if engine == .leveldb { try stack.closeAndWait() }
        let result = try Tool.run(
            "polystore search '\(url)' Note dog; echo $?; polystore search '\(url)' Note dog --format json; echo $?", in: folder)
        #expect(result.output == "1\n[]\n1\n", "\(result.errors)")
        #expect(result.errors == "polystore: No object of Note matches.\n")
        if engine == .leveldb { return }
        try Letters.fill(stack)
        let found = try Tool.run("polystore search '\(url)' Note lazy --format csv --columns title", in: folder)
        #expect(found.output.hasSuffix(",The lazy dog\r\n"), "\(found.output) \(found.errors)")
        try stack.closeAndWait()
    }

    private func manyNotes(_ folder: TemporaryFolder) throws -> String {
        let url = Engine.sqlite.url(folder)
        let stack = try DataStack(Letters.schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: StoreEngines([.sqlite]))
        try stack.performAndWait { transaction in
            for number in 0..<3000 { try transaction.create(Note.self) { ($0.title, $0.year) = ("dog \(number % 7)", number) } }
        }
        try stack.closeAndWait()
        return url
    }

    @Test func readerThatHasEnoughEndsASearchQuietly() throws {
        let folder = try TemporaryFolder()
        let url = try manyNotes(folder)
        let result = try Tool.run(
            "polystore search '\(url)' Note dog --limit 3000 --format csv --columns 'title, year, body, author' | head -1; echo \"${PIPESTATUS[0]}\"",
            in: folder)
        #expect(result.output == "score,title,year,body,author\r\n141\n", "\(result.errors)")
        #expect(result.errors == "")
    }

    @Test func rowsOfSeveralBatchesHaveTheirScores() throws {
        let folder = try TemporaryFolder()
        let url = try manyNotes(folder)
        let result = try Tool.run(
            "polystore search '\(url)' Note 'dog OR 3' --limit 2999 --format csv --columns 'objectID, title' | tr -d '\\r'", in: folder)
        let rows = result.output.split(separator: "\n").dropFirst().map { $0.split(separator: ",").map(String.init) }
        #expect(rows.count == 2999)
        let best = rows.filter { $0[2] == "dog 3" }
        #expect(rows.prefix(best.count).map { $0 } == best, "those with both words are first")
        #expect(Set(best.map { $0[0] }).count == 1 && Set(rows.map { $0[0] }).count == 2)
        #expect(rows.map { Double($0[0]) ?? -1 } == rows.map { Double($0[0]) ?? -1 }.sorted(by: >))
    }

    @Test func argumentsOfSearchesAreCompleted() throws {
        let folder = try TemporaryFolder()
        let path = try Letters.make(.sqlite, in: folder).dropFirst("sqlite:".count)
        try Tool.run("polystore --generate-completion-script bash >complete.bash", in: folder).succeeded()
        let result = try Tool.run(
            """
            source ./complete.bash
            words() {
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
                _polystore polystore "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
                echo "${COMPREPLY[*]}"
            }
            words polystore sea
            words polystore search '\(path)' Le
            words polystore search '\(path)' Note dog --columns title,author.na
            words polystore search '\(path)' Note dog --index ti
            """, in: folder)
        #expect(result.output == "search\nLetter\ntitle,author.name\ntitles\n", "\(result.errors)")
    }

    // MARK: Repair

    /// Changes all pages of a full-text index.
    private func damage(_ url: String, in folder: TemporaryFolder) throws {
        let result = try Tool.run(
            """
            python3 - <<'END'
            import sqlite3
            connection = sqlite3.connect("\(url.dropFirst("sqlite:".count))")
            connection.execute("UPDATE polystore_search_1 SET v = X'0102'")
            connection.commit()
            END
            """, in: folder)
        try result.succeeded()
    }

    @Test func damagedIndexIsBuiltAgain() throws {
        let folder = try TemporaryFolder()
        let url = try Letters.make(.sqlite, in: folder)
        let before = try Tool.run("polystore search '\(url)' Note dog --index titles --format jsonl", in: folder).output
        try damage(url, in: folder)
        let found = try Tool.run("polystore verify '\(url)'; polystore search '\(url)' Note dog --index titles", in: folder)
        #expect(found.status == 4 && found.output.contains("The index Note_"), "\(found.output) \(found.errors)")
        #expect(found.errors.contains("run polystore reindex"), "\(found.errors)")
        let repaired = try Tool.run(
            "polystore reindex '\(url)'; polystore verify '\(url)'; polystore search '\(url)' Note dog --index titles --format jsonl",
            in: folder)
        #expect(repaired.output == "All indexes were built again.\nNo damage was found.\n" + before, "\(repaired.errors)")
    }

    @Test(arguments: Engine.available)
    func indexesAreBuiltAgainByTheirNames(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try Letters.make(engine, in: folder)
        let before = try Tool.run("polystore search '\(url)' Note dog --format jsonl", in: folder).output
        let result = try Tool.run(
            """
            polystore reindex '\(url)' Note_title_body_text Writer_name; polystore reindex '\(url)'; polystore verify '\(url)'
            polystore search '\(url)' Note dog --format jsonl; polystore reindex '\(url)' Note_title_body_text Note_titel
            """, in: folder)
        #expect(
            result.output == "Built again: Note_title_body_text, Writer_name.\nAll indexes were built again.\nNo damage was found.\n"
                + before, "\(result.errors)")
        #expect(result.status == 2 && result.errors.contains("has no index \"Note_titel\". It has "), "\(result.errors)")
        #expect(result.errors.contains("Note_title_body_text, Note_title_text, Writer_name"), "\(result.errors)")
    }
}
