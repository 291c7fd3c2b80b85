/// The result of a backend's ``ReadTransaction/scanGroups(_:)``: groups and the residual parts of the request.
///
/// The shared executor (`ReadTransaction.aggregate(_:)`) applies the residual parts, so no part of a request is lost.
public struct GroupScan: Sendable {
    /// The groups with their aggregates; in ascending order of their values, null first, if the sort is residual.
    public var rows: [AggregateRow]
    /// The residual parts: the condition on groups, their order, the slice.
    public var residual: Scan.Residual

    /// Creates the result of a request that the backend executed completely.
    public init(_ rows: [AggregateRow], residual: Scan.Residual = .nothing) {
        self.rows = rows
        self.residual = residual
    }

    /// Creates a result from all groups of a request in ascending order, null first.
    public init(all rows: [AggregateRow], of request: AggregateRequest) {
        self.init(
            rows,
            residual: Scan.Residual(
                predicate: request.having == .all ? nil : request.having, sort: !request.sortKeys.isEmpty,
                slice: request.limit != nil || request.offset > 0))
    }
}
