// swift-format-ignore-file
import Foundation
import PolyStore

enum Library {
    @Model(originalName: "Writer")
    final class Author {
        @Attribute(.unique, originalName: "mail") var email: String
        @Attribute(.indexed) var born: Date?
        @Relationship(inverse: "authors", min: 1, max: 9) var books: [Book]
        @Relationship(deleteRule: .cascade, inverse: "owner") var passport: Passport?
        @Relationship(inverse: "friends") var friends: Set<Author>
        @Relationship(inverse: "clients") var agent: Author?
        @Relationship var clients: [Author]
    }

    @Model
    final class Book {
        var title: String = ""
        var year: Int32?
        @Relationship(inverse: "books") var authors: [Author]
        @Relationship(required: true, originalName: "rack") var shelf: Shelf?
        @Relationship var related: Set<Book>
        @Relationship(deleteRule: .noAction) var sequel: Book?

        #Unique<Book>(\.title, \.year)
        #Index<Book>(\.shelf, \.title)
        #Index<Book>(\.year)
    }

    @Model
    final class Shelf {
        @Relationship(deleteRule: .deny, inverse: "shelf") var books: Set<Book>
    }

    @Model
    final class Passport {
        @Relationship(inverse: "passport", required: true) var owner: Author?
    }

    @Model
    final class Empty {}

    static let schema = Schema("Library", Author.self, Book.self, Shelf.self, Passport.self, Empty.self)
}
