import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// A record that could not be imported, and the reason.
public struct ImportProblem: Error, Sendable, Hashable, Codable {
    /// The name of the source, such as a file name; `nil` if it has none.
    public let source: String?
    /// The number of the record in its source, from 1.
    public let record: Int
    /// The number of the record's first line, from 1; `nil` for a source without lines.
    public let line: Int?
    /// The name of the field in the source or of the attribute of the object; `nil` if the problem concerns the whole record.
    public let field: String?
    /// A description of the problem.
    public let reason: String
    /// The description of the underlying error; `nil` if `reason` contains everything.
    public let underlying: String?
    /// A Boolean value that indicates whether the following records can be read.
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
        var recordPosition = source.map { "\($0), record \(record)" } ?? "Record \(record)"
        if let line { recordPosition += ", line \(line)" }
        if let field { recordPosition += ", field \"\(field)\"" }
        return "\(recordPosition): \(reason)"
    }
}

extension ImportProblem {
    /// Returns the error that ends a run.
    /// - Parameters:
    ///   - entity: The imported entity.
    ///   - outcome: A sentence about what was committed and how to continue.
    func error(_ entity: String, _ outcome: String) -> StoreError {
        StoreError(.invalidValue, "\(description) \(outcome)", entity: entity, attribute: field, underlying: underlying)
    }
}

extension ImportProblem: LocalizedError {
    /// The source, the record, the field and the reason.
    public var errorDescription: String? { description }
    /// The description of the underlying error, if there is one.
    public var failureReason: String? { underlying }
}
