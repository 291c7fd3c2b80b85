import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

@Model(subentities: "Letter", "Memo")
class Document {
    var title: String = ""
    #Search(\.title, name: "titles")
}

@Model
final class Letter: Document {
    var greeting: String?
    #Search(\.title, \.greeting, name: "letters", weights: [1, 3])
}

@Model
final class Memo: Document {
    @Attribute(name: "memo_text") var text: String = ""
    #Search<Memo>(\.text)
}

/// Other versions of the class of essays.
enum OtherEssays {
    @Model(entity: "Page")
    final class Searched {
        var title: String = ""
        #Search(\.title)
    }

    @Model(entity: "Page")
    final class Unsearched {
        var title: String = ""
    }

    @Model(entity: "Page")
    final class Renamed {
        @Attribute(originalName: "title") var heading: String = ""
        #Search(\.heading)
    }
}

@Model
final class NumberSearcher {
    var number: Length = .short
    #Search(\.number)
}

enum Length: Int, Sendable { case short, long }

/// Full-text indexes of hierarchies, of several stores, and of other versions of a schema.
@Suite struct SearchSchemaTests {
    @Test func aHierarchyHasTheIndexesOfItsClasses() throws {
        let entity = try #require(Document._$hierarchy).entity
        #expect(
            entity.searchIndexes == [
                SearchIndexDescription(name: "titles", fields: ["title"]),
                SearchIndexDescription(name: "letters", fields: ["title", "greeting"], weights: [1, 3]),
                SearchIndexDescription(fields: ["memo_text"]),
            ])
    }

    @Test(arguments: Backend.forObjectLayer) func subclassesAreSearchedByInheritedAndOwnAttributes(_ backend: Backend) throws {
        let folder = try Folder()
        let stack = try DataStack(Schema("Documents", Document.self, Letter.self, Memo.self))
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction throws in
            try transaction.create(Into<Document>()).title = "Plain paper"
            let letter = try transaction.create(Into<Letter>())
            (letter.title, letter.greeting) = ("Love on paper", "Dear paper")
            let memo = try transaction.create(Into<Memo>())
            (memo.title, memo.text) = ("Paper", "Buy ink")
        }
        try stack.readAndWait { context throws in
            func titles<T: Document>(_ chain: FetchChain<T>) throws -> [String] { try context.fetchAll(chain).map(\.title) }
            #expect(try titles(From<Document>().where { $0.search("paper", in: "titles") }.orderBy { $0.title }).count == 3)
            #expect(try titles(From<Letter>().search("paper", in: "titles")) == ["Love on paper"])
            #expect(try titles(From<Document>().search("dear", in: "letters")) == ["Love on paper"])
            #expect(try titles(From<Memo>().search("ink")) == ["Paper"])
            #expect(try titles(From<Memo>().search("memo_text:ink")) == ["Paper"])
            #expect(try titles(From<Document>().search("ink")) == ["Paper"])
            #expect(try titles(From<Letter>().search("ink")) == [])
        }
    }

    @Test(arguments: Backend.forObjectLayer) func scoresCountTheDocumentsOfEachStore(_ backend: Backend) throws {
        let folder = try Folder()
        let models: [any Model.Type] = [SearchAuthor.self, Essay.self]
        let stack = try DataStack(Schema("Essays", models, configurations: ["A": models, "B": models]))
        try stack.addStore(backend.store(in: folder, "a"), configuration: "A")
        try stack.addStore(backend.store(in: folder, "b"), configuration: "B")
        func create(_ store: String, _ title: String) throws {
            try stack.performAndWait { try $0.create(Into<Essay>(store)).title = title }
        }
        for title in ["one fox", "two hens", "three hens", "four hens"] { try create("A", title) }
        for title in ["fox", "fox", "fox hen", "hen"] { try create("B", title) }
        try stack.readAndWait { context throws in
            func scores(_ source: From<Essay>) throws -> [Double] {
                try context.queryRows(source.search("fox").select { $0.searchScore("fox") })
            }
            let (first, second) = (try scores(From<Essay>("A")), try scores(From<Essay>("B")))
            #expect(first.count == 1 && second.count == 3 && first[0] > second[0])
            #expect(try scores(From<Essay>()) == (first + second).sorted(by: >))
            #expect(try context.fetchAll(From<Essay>().search("fox").limit(2)).map(\.title) == ["one fox", "fox"])
        }
    }

    @Test(arguments: Backend.persistent) func aModelWithoutTheIndexLeavesItAndAnotherOneRestoresIt(_ backend: Backend) async throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        func opened<T: Model>(_ type: T.Type, _ body: (DataStack) throws -> Void) throws {
            let stack = try DataStack(Schema("Pages", type))
            try stack.addStore(store)
            defer { for store in stack.stores { try? stack.removeStoreAndWait(store, evenIfInUse: true) } }
            try body(stack)
        }
        try opened(OtherEssays.Searched.self) { stack throws in
            try stack.performAndWait { try $0.create(Into<OtherEssays.Searched>()).title = "first fox" }
            #expect(try stack.readAndWait { try $0.fetchCount(From<OtherEssays.Searched>().search("fox")) } == 1)
        }
        try opened(OtherEssays.Unsearched.self) { stack throws in
            try stack.performAndWait { try $0.create(Into<OtherEssays.Unsearched>()).title = "second fox" }
            let error = expectError(.invalidPredicate) {
                try stack.readAndWait { try $0.fetchCount(From<OtherEssays.Unsearched>().search("fox")) }
            }
            #expect(error?.message.contains("Page has no full-text index: declare #Search(") == true)
        }
        try opened(OtherEssays.Searched.self) { stack throws in
            #expect(try stack.readAndWait { try $0.fetchCount(From<OtherEssays.Searched>().search("fox")) } == 2)
        }
        let stack = try DataStack(Schema("Pages 2", OtherEssays.Renamed.self))
        try await stack.addStore(store, migrating: .lightweight)
        #expect(
            try await stack.read { try $0.fetchAll(From<OtherEssays.Renamed>().search("heading:second")).map(\.heading) } == ["second fox"])
        for store in stack.stores { try stack.removeStoreAndWait(store, evenIfInUse: true) }
    }

    @Test(arguments: Backend.persistent) func aStoreIsSearchedWithTheSchemaThatItKeeps(_ backend: Backend) throws {
        let folder = try Folder()
        let store = backend.store(in: folder)
        let stack = try DataStack(SearchWorld.schema)
        try stack.addStore(store)
        try stack.performAndWait { transaction throws in
            for (title, body) in SearchWorld.essays {
                let made = try transaction.create(Into<Essay>())
                (made.title, made.body) = (title, body)
            }
        }
        for store in stack.stores { try stack.removeStoreAndWait(store, evenIfInUse: true) }
        let named = try DataStack(opening: store)
        defer { for store in named.stores { try? named.removeStoreAndWait(store, evenIfInUse: true) } }
        try named.readAndWait { context throws in
            func titles(_ query: EntityQuery) throws -> [String?] { try context.fetchAll(query).map { try $0.value("title")?.string } }
            #expect(try titles(EntityQuery("Essay").search("fox")) == ["Foxes", "The lazy dog"])
            #expect(try titles(EntityQuery("Essay").where("SEARCH %@", "lazy dog").orderBy("title")) == ["Foxes", "The lazy dog"])
            #expect(try titles(EntityQuery("Essay").where("SEARCH 'fox'").orderBy("SCORE('fox')", ascending: false).limit(1)) == ["Foxes"])
        }
    }

    @Test func anIndexOverOtherTypesIsRefused() {
        let error = expectError(.invalidSchema) { try DataStack(Schema("Numbers", NumberSearcher.self)) }
        #expect(error?.message.contains("number, which is not a text attribute") == true)
    }

    @Test func sourceOfClassesDeclaresTheIndexes() throws {
        let source = try ModelSource(SchemaDescription(name: "Essays", entities: [SearchAuthor._$entity, Essay._$entity])).text
        #expect(source.contains("#Search<Essay>(\\.title, \\.body, weights: [2.0, 1.0])"))
        #expect(source.contains("name: \"notes\", stemming: .english)"))
        #expect(source.contains("#Search<SearchAuthor>(\\.name, \\.bio)"))
    }
}
