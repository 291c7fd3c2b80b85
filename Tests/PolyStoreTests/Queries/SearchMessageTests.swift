import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model
final class Unsearchable {
    var search: String = ""
    var score: Int = 0
    @Relationship(inverse: "others") var other: Unsearchable?
    @Relationship(inverse: "other") var others: Set<Unsearchable>
}

/// What a search that cannot be executed says, and what plans and highlights show.
@Suite struct SearchMessageTests {
    static let wrong: [(condition: String, says: String)] = [
        ("SEARCH[titles] 'a'", "Essay has no full-text index named \"titles\"; it has one without a name, \"notes\""),
        ("title SEARCH 'a'", "SEARCH is about the texts of an object"),
        ("year SEARCH 'a'", "SEARCH is about the texts of an object"),
        ("5 SEARCH 'a'", "SEARCH is about the texts of an object"),
        ("author.essays SEARCH 'a'", "leads to many objects"),
        ("SEARCH 5", "Expected"),
        ("SEARCH", "Expected"),
        ("SELF SEARCH 5", "SEARCH takes a constant text"),
        ("SELF SEARCH title", "SEARCH takes a constant text"),
        ("SELF SEARCH {'a'}", "SEARCH takes a constant text"),
        ("SEARCH[] 'a'", "Expected the name of a full-text index"),
        ("SEARCH[c] 'a'", "no full-text index named \"c\""),
        ("ANY SEARCH 'a'", "Expected"),
        ("SCORE(5) > 0", "SCORE takes a text or a search"),
        ("SCORE() > 0", "Expected a value"),
        ("SCORE(ANY author SEARCH 'a') > 0", "SCORE takes a text or a search"),
        ("SCORE('a')", "Expected an operator"),
        ("SCORE('a') > 'b'", "cannot be compared"),
        ("FIND 'a'", "Expected an operator"),
    ]

    @Test(arguments: wrong) func aWrongSearchSaysWhatIsWrong(_ wrong: (condition: String, says: String)) throws {
        let world = try SearchWorld(.memory)
        let error = expectError(.invalidPredicate) { try world.years(where: Where(wrong.condition)) }
        #expect(error?.message.contains(wrong.says) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("^") == true, "\(error?.message ?? "")")
    }

    @Test func aStrictQueryThatNamesAnotherFieldHasACaret() throws {
        let world = try SearchWorld(.memory)
        let search = try Search(query: "fox year:2")
        let error = expectError(.invalidPredicate) { try world.years(where: Where(search: search)) }
        #expect(error?.message.contains("fox year:2\n    ^") == true, "\(error?.message ?? "")")
        #expect(error?.entity == "Essay")
        // What a user typed is text.
        #expect(try world.years(where: Where(search: "fox year:2")) == [])
        #expect(throws: SearchSyntaxError.self) { try Search(query: "fox (") }
    }

    @Test(arguments: Backend.forObjectLayer) func propertiesCanBeNamedSearchAndScore(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(Schema("Unsearchable", Unsearchable.self))
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction throws in
            let made = try transaction.create(Into<Unsearchable>())
            (made.search, made.score) = ("x", 3)
        }
        try stack.readAndWait { context throws in
            for format in ["search == 'x'", "search IN {'x'}", "search CONTAINS 'x' AND score == 3", "search LIKE 'x'"] {
                #expect(try context.fetchCount(From<Unsearchable>().where(format: format)) == 1, "\(format)")
            }
            #expect(try context.fetchCount(From<Unsearchable>().where(\.search == "x")) == 1)
            #expect(try context.fetchAll(From<Unsearchable>().orderBy(.descending("score"))).count == 1)
            for condition in [Where<Unsearchable>(search: "x"), Where("ANY others SEARCH 'x'"), Where("SCORE('x') > 0")] {
                let error = expectError(.invalidPredicate) { try context.fetchCount(From<Unsearchable>().where(condition)) }
                #expect(error?.message.contains("Unsearchable has no full-text index: declare #Search(") == true)
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer) func plansNameTheSearch(_ backend: Backend) throws {
        let world = try SearchWorld(backend)
        try world.stack.readAndWait { context throws in
            let text = try context.explain(From<Essay>().search("lazy dog").limit(3))
            #expect(text.contains("SEARCH \"lazy dog\""), "\(text)")
            let (found, plans) = try context.explaining { try context.fetchAll(From<Essay>().where { $0.search("lazy", in: "notes") }) }
            #expect(found.isEmpty && !plans.isEmpty)
            let plain = try context.plans(From<Essay>().where(\.year > 2))
            #expect(plain.allSatisfy { !$0.json.contains("search\":{") })
        }
    }

    @Test func highlightsAndSnippetsShowWhatWasFound() throws {
        let world = try SearchWorld(.memory)
        try world.stack.readAndWait { context throws in
            let essay = try #require(try context.fetchOne(From<Essay>().where(\.year == 0)))
            let search = Search("lazy fox*")
            #expect(try search.highlighted(\.title, of: essay) == "The <b>lazy</b> dog")
            #expect(try search.highlighted(\.body, of: essay, prefix: "[", suffix: "]") == "A quick brown [fox] jumps over the [lazy] dog.")
            #expect(try search.highlights(in: \.title, of: essay).map { String(essay.title[$0]) } == ["lazy"])
            #expect(try search.snippet(of: essay, tokens: 4)?.highlights.isEmpty == false)
            #expect(try Search("hens").snippet(of: essay) == nil)
            let gardens = try #require(try context.fetchOne(From<Essay>().where(\.year == 2)))
            #expect(try search.highlighted(\.body, of: gardens) == nil)
            #expect(try Search("run").highlighted(\.note, of: gardens, index: "notes") == "<b>running</b> dogs")
            let error = expectError(.invalidPredicate) { try search.highlighted(\.note, of: gardens) }
            #expect(error?.message.contains("does not belong to the full-text index over title, body") == true)
            expectError(.invalidPredicate) { try search.snippet(of: gardens, index: "x") }
        }
    }

    @Test func plansPrintSearchesAsTheyAreWritten() throws {
        let world = try SearchWorld(.memory)
        try world.stack.readAndWait { context throws in
            let text = try context.explain(From<Essay>().where("SEARCH 'a b' AND SEARCH[notes] 'c'"))
            for part in ["SEARCH \"a b\"", "SEARCH[notes] \"c\""] {
                #expect(text.contains(part), "\(part) in \(text)")
            }
        }
    }
}
