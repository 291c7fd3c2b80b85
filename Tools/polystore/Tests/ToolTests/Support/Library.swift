import Foundation
import PolyStore

/// The store that the tests read: a hierarchy, an ordered relationship, an entity without objects, and values at the borders of their types.
@Model(isAbstract: true, subentities: "Book", "Magazine") class Publication {
    @Attribute(.indexed) var title: String = ""
    @Attribute(.unique) var code: String = ""
    var price: Decimal?
    var published: Date?
    var tags: [String] = []
    @Relationship var publisher: Publisher?
}

@Model final class Book: Publication {
    var pages: Int16 = 0
    var rating: Float?
    var cover: Data?
    @Relationship var authors: [Author]
}

@Model final class Magazine: Publication {
    var issue: UInt64 = 0
}

@Model final class Author {
    @Attribute(.unique) var name: String
    var born: Date?
    var isAlive: Bool = true
    var token: UUID
    var homepage: URL?
    @Relationship(inverse: "authors") var books: [Book]
}

@Model final class Publisher {
    @Attribute(.unique, .length(1...50)) var name: String
    var rank: Int64 = 0
    @Relationship(deleteRule: .cascade, inverse: "publisher") var publications: Set<Publication>
}

/// Has no objects.
@Model final class Loan {
    var due: Date = Date()
    @Relationship var book: Book?
}

enum Library {
    static let schema = Schema("Library 1", Publication.self, Author.self, Publisher.self, Loan.self)

    /// Creates the objects. Their ids are the same in every engine.
    static func fill(_ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            let small = try transaction.create(Publisher.self) { ($0.name, $0.rank) = ("Small & \"Sons\"", .min) }
            let large = try transaction.create(Publisher.self) { ($0.name, $0.rank) = ("大きな出版社", .max) }
            let ann = try transaction.create(Author.self) { author in
                (author.name, author.token) = ("Ann O'Neil", UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16)))
                (author.born, author.homepage) = (
                    Date(timeIntervalSinceReferenceDate: -1_000_000_000.125), URL(string: "https://example.com/ann")
                )
            }
            let bob = try transaction.create(Author.self) { author in
                (author.name, author.token, author.isAlive) = (
                    "Bob\tTab\nLine\u{0}", UUID(uuid: (255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), false
                )
            }
            try transaction.create(Author.self) { author in
                (author.name, author.token) = ("Zoë", UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
                author.born = Date(timeIntervalSinceReferenceDate: 1e15)
            }
            let first = try transaction.create(Book.self) { book in
                (book.title, book.code, book.pages, book.rating) = ("A 100 % \"true\" story", "b1", .max, 0.1)
                (book.price, book.cover) = (Decimal(string: "12345678901234567890.123456789"), Data([0, 255, 10]))
                (book.published, book.tags) = (Date(timeIntervalSinceReferenceDate: 700_000_000), ["new", "it's"])
            }
            let second = try transaction.create(Book.self) { book in
                (book.title, book.code, book.pages, book.rating) = ("Crème brûlée 👩‍👩‍👧 für alle", "b2", .min, -.infinity)
                (book.price, book.cover, book.publisher) = (0, Data(), large)
            }
            let third = try transaction.create(Book.self) { ($0.title, $0.code, $0.publisher) = ("", "b3", small) }
            let magazine = try transaction.create(Magazine.self) { ($0.title, $0.code, $0.issue, $0.publisher) = ("今日", "m1", .max, large) }
            (first.authors, second.authors, third.authors) = ([bob, ann], [ann], [])
            magazine.tags = ["weekly"]
            first.publisher = small
        }
    }
}
