import Foundation
import PolyStore
import PolyStoreBackend

/// A library: a hierarchy, an ordered relationship, delete rules of each kind, dates, images, and texts of two directions. Its objects are the same each time.
enum Library {
    static let schema = SchemaDescription(
        name: "Library 1",
        entities: [
            EntityDescription(
                name: "Publication",
                properties: [
                    attribute("title", .string, optional: false, indexed: true), attribute("code", .string, optional: false, unique: true),
                    attribute("published", .date, indexed: true), attribute("price", .decimal),
                    relationship("publisher", "Publisher", inverse: "publications"), relationship("loans", "Loan", many: true, rule: .deny),
                    attribute("pages", .int16), attribute("cover", .data),
                    relationship("authors", "Author", many: true, ordered: true, inverse: "books"),
                    attribute("issue", .uint64), attribute("_entity", .string, optional: false, indexed: true),
                ], searchIndexes: [SearchIndexDescription(fields: ["title"])],
                hierarchy: EntityHierarchy(
                    isAbstract: true, properties: ["title", "code", "published", "price", "publisher", "loans"],
                    subentities: [
                        SubentityDescription(
                            name: "Book", parent: "Publication", isAbstract: false, properties: ["pages", "cover", "authors"],
                            required: ["pages"]),
                        SubentityDescription(
                            name: "Magazine", parent: "Publication", isAbstract: false, properties: ["issue"], required: ["issue"]),
                    ])),
            EntityDescription(
                name: "Author",
                properties: [
                    attribute("name", .string, optional: false, unique: true), attribute("born", .date), attribute("alive", .bool),
                    attribute("rating", .double), relationship("books", "Publication", many: true, ordered: true),
                ]),
            EntityDescription(
                name: "Publisher",
                properties: [
                    attribute("name", .string, optional: false, unique: true, rules: [.length(1, 50)]), attribute("rank", .int64),
                    relationship("publications", "Publication", many: true, rule: .cascade),
                ]),
            EntityDescription(
                name: "Loan",
                properties: [
                    attribute("due", .date, optional: false), attribute("returned", .bool),
                    relationship("publication", "Publication", inverse: "loans", required: true),
                ]),
            EntityDescription(name: "Note", properties: [attribute("text", .string)]),
        ])

    /// A picture of one pixel.
    static let picture =
        Data(base64Encoded: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==") ?? Data()

    private static let words = [
        "river", "garden", "winter", "letter", "machine", "harbour", "silence", "mountain", "window", "journey", "island", "mirror",
    ]

    static func fill(_ transaction: Transaction) throws {
        let publishers = try ["Harbour Press", "Nordlicht", "دار النشر", "Quiet House"].enumerated().map {
            (index: Int, name: String) -> DynamicObject in
            try transaction.create("Publisher", ["name": .text(name), "rank": .integer(Int64(index))])
        }
        let authors = try (0..<12).map { (index: Int) -> DynamicObject in
            let rating: QueryValue? = index == 5 ? nil : .real(Double(index) * 1.5 - 3)
            let values: [String: QueryValue?] = [
                "name": .text(index == 3 ? "עמוס עוז" : "Author \(index)"), "alive": .bool(index % 3 != 0),
                "born": .date(day(-index * 1_000 - 10_000)), "rating": rating,
            ]
            return try transaction.create("Author", values)
        }
        var books: [DynamicObject] = []
        for index in 0..<240 {
            let price: QueryValue? = index % 10 == 0 ? nil : .decimal(Decimal(index * 5 + 495) / 100)
            let cover: QueryValue? = index == 0 ? .data(picture) : nil
            let values: [String: QueryValue?] = [
                "title": .text("The \(words[index % 12]) and the \(words[(index / 12 + index) % 12])"), "code": .text("B\(index)"),
                "published": .date(day(index * 9)), "pages": .integer(Int64(80 + index * 37 % 700)), "price": price, "cover": cover,
            ]
            let book = try transaction.create("Book", values)
            try book.set("publisher", to: publishers[index % 3])
            try book.set("authors", to: [authors[index % 12], authors[(index + 1 + index / 12 % 11) % 12]])
            books.append(book)
        }
        for index in 0..<8 {
            let magazine = try transaction.create(
                "Magazine", ["title": .text("Weekly \(index)"), "code": .text("M\(index)"), "issue": .unsigned(UInt64(index))])
            try magazine.set("publisher", to: publishers[index < 6 ? 0 : 3])
        }
        for index in 0..<5 {
            let loan = try transaction.create("Loan", ["due": .date(day(3_000 + index)), "returned": .bool(index == 0)])
            try loan.set("publication", to: books[index + 1])
        }
    }

    private static func day(_ number: Int) -> Date { Date(timeIntervalSinceReferenceDate: Double(number) * 86_400) }
}
