/// A cursor over records in the order of the request. It is a class so that reading a row is one virtual call without a protocol witness.
///
/// `next()` advances; `rowID` and `record` then describe the current row, until the next call or the end of the transaction.
open class RecordCursor {
    // Each access is a single load or store, so exclusivity checks could not find violations.
    @exclusivity(unchecked) @usableFromInline final var currentRowID: Int64 = 0
    @exclusivity(unchecked) @usableFromInline final var currentRecord: RecordView

    /// The row id of the current row.
    @inlinable public final var rowID: Int64 { currentRowID }
    /// The record of the current row.
    @inlinable public final var record: RecordView { currentRecord }

    /// Creates a cursor before the first row.
    public init(layout: RecordLayout) { currentRecord = RecordView(empty: layout) }

    // Unchecked for the same reason.
    @exclusivity(unchecked) @usableFromInline final var steps = 0

    /// The number of rows examined so far, for ``ReadTransaction/explain(_:)``. The default is the number of rows that the cursor returned.
    open var rowsExamined: Int { steps }

    /// Sets the current row. A subclass calls this before its `next()` returns true.
    @inlinable
    public final func setCurrent(_ rowID: Int64, _ record: RecordView) {
        currentRowID = rowID
        currentRecord = record
        steps &+= 1
    }

    /// Advances to the next row.
    /// - Returns: false at the end. The cursor is not called again after that.
    open func next() throws -> Bool { false }

    /// Releases the resources of the cursor. Called by `deinit` at the latest. Repeated calls must have no effect.
    open func close() {}
}

extension RecordView {
    /// Creates a record without bytes, the state of a cursor before the first row. Its fields must not be read.
    package init(empty layout: RecordLayout) {
        self.init(trusting: UnsafeRawPointer(layout.slots), count: 0, layout: layout)
    }
}

/// The result of a backend's `scan`: a cursor and the residual parts of the request.
///
/// The shared executor (`ReadTransaction.fetch(_:)`) applies the residual parts, so no part of a request is lost.
public struct Scan {
    /// The residual parts of a request.
    public struct Residual: Sendable, Hashable {
        /// The residual predicate, to be evaluated on every row; nil if there is none.
        public var predicate: QueryPredicate?
        /// A Boolean value that indicates whether the rows must still be sorted.
        public var sort: Bool
        /// A Boolean value that indicates whether limit and offset must still be applied. Must be true if a predicate or a sort is residual.
        public var slice: Bool

        /// Creates residual parts.
        public init(predicate: QueryPredicate? = nil, sort: Bool = false, slice: Bool = false) {
            self.predicate = predicate
            self.sort = sort
            self.slice = slice
        }

        /// The residual parts of a fully executed request.
        public static let nothing = Residual()
        /// A Boolean value that indicates whether the backend executed the whole request.
        public var isNothing: Bool { self == .nothing }

        /// Returns the whole request as residual, for a full scan in arbitrary order.
        public static func everything(of request: FetchRequest) -> Residual {
            Residual(predicate: request.predicate == .all ? nil : request.predicate, sort: true, slice: true)
        }
    }

    /// The cursor.
    public let cursor: RecordCursor
    /// The residual parts of the request.
    public var residual: Residual

    /// Creates a scan.
    public init(_ cursor: RecordCursor, residual: Residual = .nothing) {
        self.cursor = cursor
        self.residual = residual
    }
}

extension Scan.Residual {
    /// The residual parts as text for ``QueryPlan/residual``, one entry each.
    public func described(for request: FetchRequest) -> [String] {
        var lines: [String] = []
        if let predicate { lines.append("filter \(predicate)") }
        if sort { lines.append("sort by \((request.sortKeys.map(\.field.name) + ["objectID"]).joined(separator: ", "))") }
        if slice, request.limit != nil || request.offset > 0 {
            lines.append("slice limit \(request.limit.map(String.init) ?? "none") offset \(request.offset)")
        }
        return lines
    }
}
