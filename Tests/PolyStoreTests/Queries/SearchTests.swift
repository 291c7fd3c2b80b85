import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Full-text searches in conditions of every dialect.
@Suite struct SearchTests {
    @Test func theMacroDeclaresIndexesWithStoredNames() {
        #expect(
            Essay._$entity.searchIndexes == [
                SearchIndexDescription(fields: ["title", "body"], weights: [2, 1]),
                SearchIndexDescription(name: "notes", fields: ["stored_note"], options: SearchOptions(stemming: .english)),
            ])
        #expect(SearchAuthor._$entity.searchIndexes == [SearchIndexDescription(fields: ["name", "bio"])])
    }

    @Test(arguments: Backend.forObjectLayer) func everyDialectFindsTheSame(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        #expect(try world.years(where: Where(columns: { $0.search("lazy dog") })) == [0, 1])
        #expect(try world.years(where: Where(search: "lazy dog")) == [0, 1])
        #expect(try world.years(where: Where("SEARCH 'lazy dog'")) == [0, 1])
        #expect(try world.years(where: Where("search %@", "lazy dog")) == [0, 1])
        #expect(try world.years(where: Where(format: "SEARCH $text", variables: ["text": "lazy dog"])) == [0, 1])
        #expect(try world.years(where: Where("SELF SEARCH 'lazy dog'")) == [0, 1])
        #expect(try world.years(where: Where("SEARCH %@", try Search(query: "lazy dog"))) == [0, 1])
        #expect(try world.years(where: Where(search: "\"lazy dog\"")) == [0])
        #expect(try world.years(where: Where(search: "title:foxes OR title:gardens")) == [1, 2])
        #expect(try world.years(where: Where("NOT SEARCH 'lazy'")) == [2, 4])
        #expect(try world.years(where: Where("SEARCH 'lazy' AND year > 0 OR SEARCH 'gardens'")) == [1, 2, 3])
        #expect(try world.years(where: Where(columns: { $0.search("lazy") && $0.year > 0 })) == [1, 3])
        #expect(try world.years(where: Where(search: "lazy") && \.year > 0) == [1, 3])
        #expect(try world.stack.readAndWait { try $0.fetchCount(From<Essay>().where(Where(search: "lazy"))) } == 3)
    }

    @Test(arguments: Backend.forObjectLayer) func aNamedIndexIsSearchedWithItsOptions(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        #expect(try world.years(where: Where(columns: { $0.search("dog runs", in: "notes") })) == [2])
        #expect(try world.years(where: Where("SEARCH[notes] 'dog runs'")) == [2])
        #expect(try world.years(where: Where("SEARCH[\"notes\"] %@", "dog runs")) == [2])
        #expect(try world.years(where: Where(search: "dog runs")) == [])
    }

    @Test(arguments: Backend.forObjectLayer) func relationshipsAreFollowed(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        func names(_ condition: Where<SearchAuthor>) throws -> [String] {
            try world.stack.readAndWait { try $0.fetchAll(From<SearchAuthor>().where(condition).orderBy(.ascending(\.name))).map(\.name) }
        }
        #expect(try world.years(where: Where(columns: { $0.author.search("foxes") })) == [0, 1])
        #expect(try world.years(where: Where("author SEARCH 'foxes'")) == [0, 1])
        #expect(try world.years(where: %"author"%.search("foxes")) == [0, 1])
        #expect(try names(Where(columns: { $0.essays.any { $0.search("lazy") } })) == ["Jane Doe", "John"])
        #expect(try names(Where(columns: { $0.essays.any { $0.search("quick") } })) == ["Jane Doe"])
        #expect(try names(Where("ANY essays SEARCH 'quick'")) == ["Jane Doe"])
        #expect(try names(Where("NONE essays SEARCH 'quick'")) == ["John"])
        #expect(try names(Where("ALL essays SEARCH 'fox*'")) == ["Jane Doe"])
        #expect(try names(%"essays"%.any.search("quick")) == ["Jane Doe"])
        #expect(try names(.any(\.essays, Where(search: "quick"))) == ["Jane Doe"])
        #expect(try names(Where("SUBQUERY(essays, $e, $e SEARCH 'lazy' AND $e.year > 0).@count == 1")) == ["Jane Doe", "John"])
        #expect(try names(Where("SUBQUERY(essays, $e, SEARCH 'jane' AND $e.year == 0).@count == 1")) == ["Jane Doe"])
        #expect(try names(Where(columns: { author in author.essays.any { $0.year == 0 && author.search("jane") } })) == ["Jane Doe"])
    }

    @Test(arguments: Backend.forObjectLayer) func theBestAreFirst(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        let best = try world.years(From<Essay>().search("fox").limit(10))
        #expect(best == [1, 0])
        #expect(try world.years(From<Essay>().search("fox").limit(1)) == [1])
        #expect(try world.years(From<Essay>().search("fox").offset(1)) == [0])
        #expect(try world.years(From<Essay>().where("SEARCH 'fox'").orderBy(.descending("SCORE('fox')"))) == best)
        #expect(try world.years(From<Essay>().where { $0.search("fox") }.orderBy { $0.searchScore("fox").descending }) == best)
        #expect(try world.years(From<Essay>().where(Where(search: "fox")).orderBy(.score("fox", ascending: true))) == best.reversed())
        #expect(try world.years(From<Essay>().orderBy(.score("fox"), .ascending(\.year))) == [1, 0, 2, 3, 4])
        #expect(try world.years(From<Essay>().orderBy(.score("dog runs", in: "notes"), .descending(\.year))) == [2, 4, 3, 1, 0])
    }

    @Test(arguments: Backend.forObjectLayer) func aScoreIsAValue(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        try world.stack.readAndWait { context throws in
            let byColumns = try context.queryRows(From<Essay>().search("fox").select { ($0.year, $0.searchScore("fox")) })
            #expect(byColumns.map(\.0) == [1, 0])
            #expect(byColumns[0].1 > byColumns[1].1 && byColumns[1].1 > 0)
            let rows = try context.queryAttributes(From<Essay>().search("fox"), Select("year", .score("fox")))
            #expect(rows.map { $0["score"] } == byColumns.map { .real($0.1) })
            let named = try context.queryAttributes(From<Essay>().search("fox"), Select("year", "SCORE(SEARCH 'fox')"))
            #expect(named.map { $0["SCORE(SEARCH 'fox')"] } == byColumns.map { .real($0.1) })
            #expect(try context.queryValue(From<Essay>().where { $0.searchScore("fox") > 0 }, .count) == 2)
            #expect(try context.fetchCount(From<Essay>().where("SCORE('fox') > 0 AND SCORE(author SEARCH 'jane') > 0")) == 2)
            #expect(try context.queryRows(From<Essay>().where(\.year > 2).select { $0.author.searchScore("john") }).count == 2)
        }
    }

    @Test(arguments: Backend.forObjectLayer) func emptySearchesFindNothing(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        for text in ["", " ", "-lazy", "()", "\"\"", "\0", "…", "'\u{0}'"] {
            #expect(try world.years(where: Where(search: text)) == [], "\(text)")
        }
        #expect(try world.years(where: Where("SEARCH %@", nil as String?)) == [])
        #expect(try world.years(where: Where("SEARCH %@", "l\u{0}azy (")) == [])
    }
}
