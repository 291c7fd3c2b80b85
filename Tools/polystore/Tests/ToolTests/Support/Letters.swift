import Foundation
import PolyStore
import StoreTesting

/// The store that the tests search: a hierarchy with several full-text indexes, texts in several scripts, nulls, and control characters.
@Model(subentities: "Letter") class Note {
    var title: String?
    var body: String?
    var year: Int = 0
    @Relationship var author: Writer?
    #Search(\.title, \.body, weights: [2, 1])
    #Search(\.title, name: "titles", stemming: .english)
}

@Model final class Letter: Note {
    var recipient: String = ""
    #Search(\.recipient, name: "recipients")
}

/// Has an attribute whose name is the title of a column.
@Model final class Writer {
    @Attribute(.unique) var name: String
    var score: String?
    @Relationship(inverse: "author") var notes: Set<Note>
    #Search(\.name, \.score, name: "names")
}

/// Has no full-text index.
@Model final class Stamp {
    var title: String = ""
}

enum Letters {
    static let schema = Schema("Letters 1", Note.self, Writer.self, Stamp.self)

    /// Creates a store of the engine.
    static func make(_ engine: Engine, in folder: TemporaryFolder) throws -> String {
        let url = engine.url(folder, "letters")
        let stack = try DataStack(schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL]))
        try fill(stack)
        try stack.closeAndWait()
        return url
    }

    /// Creates the objects. Their ids are the same in every engine.
    static func fill(_ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            let ann = try transaction.create(Writer.self) { ($0.name, $0.score) = ("Ann O'Neil", "dog trainer") }
            let zoe = try transaction.create(Writer.self) { $0.name = "Zoë" }
            let texts: [(String?, String?)] = [
                ("The lazy dog", "A quick brown fox jumps over the lazy dog."),
                ("Dogs", "Cats and foxes; no hound at all."),
                ("Crème brûlée 👩‍👩‍👧", "e-mail me at user@example.com about C++ and 3.14, don't wait"),
                ("東京都の犬", "今日は東京で犬を見た。"),
                ("NUL\u{0}dog\ttab\u{1b}[31m red", "line one\nthe dog in line two"),
                (nil, nil), (nil, "only a body with a dog"), ("", ""),
            ]
            for (position, (title, body)) in texts.enumerated() {
                let note = try transaction.create(Note.self) { ($0.title, $0.body, $0.year) = (title, body, 2000 + position) }
                note.author = position % 2 == 0 ? ann : zoe
            }
            let letter = try transaction.create(Letter.self) { letter in
                (letter.title, letter.recipient, letter.year) = ("Dear dog", "Mr. Fox & Sons", 2020)
                letter.body =
                    (1...60).map { "word\($0)" }.joined(separator: " ") + " the dog at last "
                    + (61...90).map { "word\($0)" }.joined(separator: " ")
            }
            letter.author = ann
            try transaction.create(Stamp.self) { $0.title = "dog" }
        }
    }
}
