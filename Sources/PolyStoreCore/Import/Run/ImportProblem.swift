import PolyStoreBackend

/// A record that could not be imported, and why.
public struct ImportProblem: Error, Sendable, Hashable {
    /// The name of the source: a file's name, or another name that the source has; nil where it has none.
    public let source: String?
    /// The number of the record in its source, from 1.
    public let record: Int
    /// The line of the source in which the record begins, from 1; nil for a source without lines.
    public let line: Int?
    /// The name of the field in the source, or of the attribute of the object; nil where the record as a whole is at fault.
    public let field: String?
    /// A sentence that says what is wrong.
    public let reason: String
    /// The text of the error that led to the problem; nil where `reason` says everything.
    public let underlying: String?
    /// Whether the records after this one can still be read.
    let isRecoverable: Bool

    init(
        source: String?, record: Int, line: Int?, field: String?, reason: String, underlying: String? = nil, isRecoverable: Bool = true
    ) {
        self.source = source
        self.record = record
        self.line = line
        self.field = field
        self.reason = reason
        self.underlying = underlying
        self.isRecoverable = isRecoverable
    }
}

extension ImportProblem: CustomStringConvertible {
    /// `cities.jsonl, record 12, line 14, field "population": expected a number, found "many".`
    public var description: String {
        var place = source.map { "\($0), record \(record)" } ?? "Record \(record)"
        if let line { place += ", line \(line)" }
        if let field { place += ", field \"\(field)\"" }
        return "\(place): \(reason)"
    }
}

extension ImportProblem {
    /// The error that ends a run.
    /// - Parameters:
    ///   - entity: the entity that was imported.
    ///   - outcome: a sentence about what is committed and how to continue.
    func error(_ entity: String, _ outcome: String) -> StoreError {
        StoreError(.invalidValue, "\(description) \(outcome)", entity: entity, attribute: field, underlying: underlying)
    }
}
