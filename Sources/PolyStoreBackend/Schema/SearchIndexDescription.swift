import PolyStoreSearch

/// The declaration of a full-text index over text attributes of an entity.
///
/// It can be added and removed without a new schema version. Only the fields and the options determine what the store keeps.
public struct SearchIndexDescription: Sendable, Hashable, Codable {
    /// The name of the index among those of the entity; empty for the one that a search uses if it names none.
    public var name: String
    /// The names of the text attributes, at least one and at most 64.
    public var fields: [String]
    /// The weight of each field in the score, in the order of ``fields``: a number from 0.000001 to 1000000.
    public var weights: [Double]
    /// How texts are divided into tokens.
    public var options: SearchOptions

    /// Creates the declaration of a full-text index.
    /// - Parameters:
    ///   - name: The name of the index among those of the entity.
    ///   - fields: The names of the text attributes.
    ///   - weights: The weight of each field; nil for 1 each.
    ///   - options: How texts are divided into tokens.
    public init(name: String = "", fields: [String], weights: [Double]? = nil, options: SearchOptions = SearchOptions()) {
        self.name = name
        self.fields = fields
        self.weights = weights ?? fields.map { _ in 1 }
        self.options = options
    }

    /// The most fields of an index.
    public static let mostFields = 64
    /// The weights that a field can have. Scores have all their digits with them.
    static let weightRange = 1e-6...1e6
}

/// A full-text index of a ``ResolvedSchema``.
///
/// The documents of the index are the objects of the entity with a text in one of the fields at least; an object whose fields are all null is none.
public struct SearchIndex: Sendable, Hashable {
    /// The index in ``Entity/searchIndexes``.
    public let index: Int
    /// The name among the full-text indexes of the entity; empty for the one that a search uses if it names none.
    public let name: String
    /// A readable name for plans and messages, made of the names of the entity and the fields: `Note_title_body_text`.
    public let plainName: String
    /// The field indexes, in order.
    public let fields: [Int]
    /// The names of the fields, in order.
    public let fieldNames: [String]
    /// The weight of each field.
    public let weights: [Double]
    /// How texts are divided into tokens.
    public let options: SearchOptions

    /// Returns the readable name of an index over some fields of an entity.
    package static func plainName(_ entity: String, _ fields: [String]) -> String {
        ([entity] + fields.map { $0.replacing("\0", with: "_") } + ["text"]).joined(separator: "_")
    }

    /// Returns the texts of a document: one for each field, nil for null; nil if the object is not a document of the index.
    public func texts(of record: RecordView) -> [String?]? {
        let texts = fields.map { record.isNull($0) ? nil : record.string($0) }
        return texts.contains { $0 != nil } ? texts : nil
    }
}

extension Entity {
    /// Returns a full-text index by its name; for an empty name the one without a name, or the only one.
    public func searchIndex(named name: String) -> SearchIndex? {
        searchIndexes.first { $0.name == name } ?? (name.isEmpty && searchIndexes.count == 1 ? searchIndexes[0] : nil)
    }
}
