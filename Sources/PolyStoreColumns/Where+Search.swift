import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel
public import PolyStoreSearch

// Full-text searches in the forms without columns: conditions by key paths and names, keys of an order, selected values.

/// A search as an argument of a format string: `Where("SEARCH %@", try Search(query: "title:dog"))`.
extension Search: QueryArgument {
    public var queryOperand: QueryOperand {
        (isStrict ? Operand.query(text) : .constant(.text(text), .string)).queryOperand
    }
}

extension Where {
    /// Creates a condition from a full-text search: `Where<Note>(search: "lazy dog")`.
    ///
    /// The text is what a user typed, which is never an error. Combine it with other conditions by `&&`, and use it over relationships:
    /// `Where<Author>.any(\.posts, Where(search: "lazy dog"))`.
    /// - Parameters:
    ///   - text: What is searched for.
    ///   - index: The name of the index; empty for the one without a name, or the only one.
    public init(search text: String, in index: String = "") { self.init(search: Search(text), in: index) }

    /// Creates a condition from a full-text search.
    public init(search: Search, in index: String = "") { self.init(.comparison(Comparison(search, in: index))) }
}

extension QueryKey {
    /// Returns a search in the texts of the objects that the relationship leads to: `%"author"%.search("jane")`, `%"posts"%.any.search("lazy dog")`.
    public func search<T: Model>(_ text: String, in index: String = "") -> Where<T> { search(Search(text), in: index) }

    /// Returns a search in the texts of the objects that the relationship leads to.
    public func search<T: Model>(_ search: Search, in index: String = "") -> Where<T> {
        var comparison = Comparison(search, in: index, of: path)
        comparison.modifier = modifier
        return Where(.comparison(comparison))
    }
}

extension OrderKey {
    /// Returns a key that orders by the score of a full-text search, best first: `.orderBy(.score("lazy dog"))`.
    /// - Parameters:
    ///   - text: What is searched for.
    ///   - index: The name of the index; empty for the one without a name, or the only one.
    ///   - ascending: Whether the best is last.
    public static func score(_ text: String, in index: String = "", ascending: Bool = false) -> OrderKey<T> {
        score(Search(text), in: index, ascending: ascending)
    }

    /// Returns a key that orders by the score of a full-text search, best first.
    public static func score(_ search: Search, in index: String = "", ascending: Bool = false) -> OrderKey<T> {
        OrderKey(Comparison(search, in: index).score, ascending: ascending, nulls: .smallest, options: [])
    }
}

extension SelectTerm {
    /// Returns the score of each object in a full-text search, with the name `score`: `Select("title", .score("lazy dog"))`.
    public static func score(_ text: String, in index: String = "", as alias: String? = nil) -> SelectTerm {
        score(Search(text), in: index, as: alias)
    }

    /// Returns the score of each object in a full-text search.
    public static func score(_ search: Search, in index: String = "", as alias: String? = nil) -> SelectTerm {
        SelectTerm(nil, .operand(Comparison(search, in: index).score), alias ?? "score")
    }
}

extension ClauseChain {
    /// Selects the objects that match a full-text search, best first: `From<Note>().search("lazy dog").limit(10)`.
    ///
    /// The same as `.where(Where(search: text)).orderBy(.score(text))`. Keys of an order that follow decide among objects with equal scores.
    /// - Parameters:
    ///   - text: What is searched for, as a user typed it.
    ///   - index: The name of the index; empty for the one without a name, or the only one.
    public func search(_ text: String, in index: String = "") -> Chained { search(Search(text), in: index) }

    /// Selects the objects that match a full-text search, best first.
    public func search(_ search: Search, in index: String = "") -> Chained {
        clauses([Where<Entity>(search: search, in: index), OrderBy<Entity>(.score(search, in: index))])
    }
}
