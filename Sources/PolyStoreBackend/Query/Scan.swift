/// A walk over records, in the order of the request. A class to subclass: one call a row, no protocol witness.
///
/// `next()` moves; `id` and `record` then describe the row, until the next move or the end of the transaction.
open class RecordCursor {
    // Plain values that are read and written in one step each: exclusivity checks could find nothing.
    @exclusivity(unchecked) @usableFromInline final var currentID: Int64 = 0
    @exclusivity(unchecked) @usableFromInline final var currentRecord: RecordView

    /// The row's id.
    @inlinable public final var id: Int64 { currentID }
    /// The row's record.
    @inlinable public final var record: RecordView { currentRecord }

    public init(layout: RecordLayout) { currentRecord = RecordView(empty: layout) }

    // As above.
    @exclusivity(unchecked) @usableFromInline final var steps = 0

    /// How many rows were looked at so far, for ``ReadTransaction/explain(_:)``. Without more knowledge those that the walk stood on.
    open var rowsExamined: Int { steps }

    /// Tells where the walk stands: to be called by a subclass before its `next()` returns true.
    @inlinable
    public final func stand(on id: Int64, _ record: RecordView) {
        currentID = id
        currentRecord = record
        steps &+= 1
    }

    /// Moves to the next row.
    /// - Returns: false at the end; then no further call is made.
    open func next() throws -> Bool { false }

    /// Gives back what the walk holds. Called once, at the latest by deinit of the last owner; a second call must do no harm.
    open func close() {}
}

extension RecordView {
    /// A record without bytes: what a cursor has before its first step. Its fields must not be read.
    init(empty layout: RecordLayout) {
        self.init(trusting: UnsafeRawPointer(layout.slots), count: 0, layout: layout)
    }
}

/// What a backend answers to a request: a walk, and what the walk leaves undone.
///
/// The shared executor (``ReadTransaction/fetch(_:)``) completes the remainder, so nothing is ever silently dropped.
public struct Scan {
    /// The part of a request that the backend did not do.
    public struct Remainder: Sendable, Hashable {
        /// Still to be tested on every row of the walk; nil: nothing.
        public var predicate: QueryPredicate?
        /// The rows do not come in the request's order.
        public var sort: Bool
        /// Limit and offset are still to be applied. Must be true whenever one of the others is left.
        public var slice: Bool

        public init(predicate: QueryPredicate? = nil, sort: Bool = false, slice: Bool = false) {
            self.predicate = predicate
            self.sort = sort
            self.slice = slice
        }

        public static let nothing = Remainder()
        public var isNothing: Bool { self == .nothing }

        /// Everything of a request: for a walk over all records of the entity in no particular order.
        public static func everything(of request: FetchRequest) -> Remainder {
            Remainder(predicate: request.predicate == .all ? nil : request.predicate, sort: true, slice: true)
        }
    }

    public let cursor: RecordCursor
    public var remainder: Remainder

    public init(_ cursor: RecordCursor, remainder: Remainder = .nothing) {
        self.cursor = cursor
        self.remainder = remainder
    }
}

extension Scan.Remainder {
    /// A line each, for ``QueryPlan/remainder``.
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
