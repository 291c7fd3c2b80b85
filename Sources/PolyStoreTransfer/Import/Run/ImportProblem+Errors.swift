import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel

/// Returns whether an error is specific to a record, as opposed to the store, the source or the run.
func isRecordError(_ error: any Error) -> Bool {
    switch error {
    case is CancellationError: return false
    case let error as StoreError:
        let others: [StoreError.Code] = [
            .cancelled, .timedOut, .io, .full, .busy, .closed, .corrupt, .conflict, .readOnly, .storeNotFound, .ambiguousStore,
            .unsupported,
            .incompatibleSchema, .migrationRequired,
        ]
        return !others.contains(error.code)
    case let error as RecordError: return ![.inputOutput, .compression, .unsupported].contains(error.code)
    default: return true
    }
}

extension ImportProblem {
    init(
        source: String?, _ recordPosition: ImportRecordPosition, field: String?, reason: String, underlying: String?,
        isRecoverable: Bool = true
    ) {
        self.init(
            source: source, record: recordPosition.record, line: recordPosition.line == 0 ? nil : recordPosition.line, field: field,
            reason: reason,
            underlying: underlying, isRecoverable: isRecoverable)
    }

    /// Creates the problem of a record from an error.
    init(source: String?, _ recordPosition: ImportRecordPosition, _ error: any Error) {
        switch error {
        case let problem as ImportProblem: self = problem
        case let error as RecordError:
            let field = error.field ?? error.column.map { "column \($0)" }
            self.init(
                source: source, recordPosition, field: field, reason: Self.sentence(error.reason), underlying: "\(error)",
                isRecoverable: error.isRecoverable)
        case let error as StoreError:
            self.init(source: source, recordPosition, field: error.attribute, reason: Self.sentence(error.message), underlying: "\(error)")
        case let error as ValidationError:
            let field = error.failures.count == 1 ? error.failures[0].attribute : nil
            let reason = error.failures.map { failure in (field == nil ? failure.attribute.map { "\($0) " } ?? "" : "") + failure.message }
            self.init(
                source: source, recordPosition, field: field, reason: Self.sentence(reason.joined(separator: "; ")), underlying: "\(error)")
        case let error as DecodingError:
            let (path, reason) = Self.decoding(error)
            self.init(source: source, recordPosition, field: path, reason: Self.sentence(reason), underlying: "\(error)")
        default: self.init(source: source, recordPosition, field: nil, reason: Self.sentence("\(error)"), underlying: nil)
        }
    }

    private static func sentence(_ text: String) -> String {
        guard let last = text.last else { return "The record is refused." }
        return ".!?".contains(last) ? text : text + "."
    }

    /// Returns the path of the value that a decoder rejects, and the reason.
    private static func decoding(_ error: DecodingError) -> (path: String?, reason: String) {
        func path(_ keys: [any CodingKey]) -> String? {
            var path = ""
            for key in keys {
                if let index = key.intValue { path += "[\(index)]" } else { path += (path.isEmpty ? "" : ".") + key.stringValue }
            }
            return path.isEmpty ? nil : path
        }
        switch error {
        case .typeMismatch(_, let context), .dataCorrupted(let context): return (path(context.codingPath), context.debugDescription)
        case .valueNotFound(let type, let context): return (path(context.codingPath), "expected a value of type \(type), found null")
        case .keyNotFound(let key, let context): return (path(context.codingPath + [key]), "the field is missing")
        @unknown default: return (nil, "\(error)")
        }
    }
}

extension StoreError {
    /// The objects that the error concerns, with a message for each.
    var blamed: [(entity: String, attribute: String?, key: Int64, message: String)] {
        if !violations.isEmpty { return violations.map { ($0.entity, $0.attribute, $0.rowID, $0.message) } }
        guard let entity, let rowID else { return [] }
        return [(entity, attribute, rowID, message)]
    }

    /// Creates the error that ends an import run from any error.
    init(wrappingImport error: any Error) {
        switch error {
        case let error as StoreError: self = error
        case is CancellationError: self.init(.cancelled, "The import was cancelled.")
        case let error as RecordError:
            let code: Code =
                switch error.code {
                case .inputOutput: .io
                case .unsupported, .compression: .unsupported
                default: .invalidValue
                }
            self.init(code, "\(error)\("\(error)".hasSuffix(".") ? "" : ".")", attribute: error.field, underlying: "\(error)")
        default: self.init(.invalidValue, "The import failed: \(error).", underlying: "\(error)")
        }
    }
}
