import PolyStore
import PolyStoreBackend
import TestSupport

@Model
final class SearchAuthor {
    var name: String = ""
    var bio: String?
    @Relationship(inverse: "author") var essays: [Essay]
    #Search(\.name, \.bio)
}

@Model
final class Essay {
    var title: String = ""
    var body: String?
    var year: Int = 0
    @Attribute(name: "stored_note") var note: String?
    @Relationship var author: SearchAuthor?
    #Search<Essay>(\.title, \.body, weights: [2, 1])
    #Search(\.note, name: "notes", stemming: .english)
}

/// Authors and essays in a store.
struct SearchWorld {
    let stack: DataStack
    private let folder: Folder

    static var schema: Schema { Schema("Essays", SearchAuthor.self, Essay.self) }

    /// The titles and bodies; the year is the position.
    static let essays: [(title: String, body: String?)] = [
        ("The lazy dog", "A quick brown fox jumps over the lazy dog."),
        ("Foxes", "The fox is no dog, and never lazy. A fox is a fox."),
        ("Gardens", nil),
        ("Dogs and cats", "Cats sleep; lazy cats sleep more."),
        ("Nothing of this", "A text about other things altogether, and about nothing at all."),
    ]

    init(_ backend: Backend) throws {
        folder = try Folder()
        stack = try DataStack(Self.schema)
        try stack.addStore(backend.store(in: folder))
        try stack.performAndWait { transaction in
            let jane = try transaction.create(Into<SearchAuthor>())
            (jane.name, jane.bio) = ("Jane Doe", "Writes about foxes")
            let john = try transaction.create(Into<SearchAuthor>())
            john.name = "John"
            for (index, essay) in Self.essays.enumerated() {
                let made = try transaction.create(Into<Essay>())
                (made.title, made.body, made.year) = (essay.title, essay.body, index)
                made.note = index == 2 ? "running dogs" : nil
                made.author = index < 2 ? jane : index < 4 ? john : nil
            }
        }
    }

    /// Returns the years of essays in the order of a fetch.
    func years(_ source: FetchChain<Essay>) throws -> [Int] { try stack.readAndWait { try $0.fetchAll(source).map(\.year) } }

    /// Returns the years of the essays that satisfy a condition, ascending.
    func years(where condition: Where<Essay>) throws -> [Int] {
        try years(From<Essay>().where(condition).orderBy(.ascending(\.year)))
    }
}
