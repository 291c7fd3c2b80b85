import PolyStoreBackend

/// An index that would let a fetch read fewer rows.
///
///     for advice in try context.indexAdvice(EntityQuery("Person").where("city == 'Rome' AND age > 30")) { print(advice) }
///
/// The rows that the fetch reads now are those that its plan counts. The rows that it would read with the index are counted in the store: those that satisfy the part of the condition
/// that the index serves. The store is not changed.
public struct IndexAdvice: Sendable, Hashable, CustomStringConvertible {
    /// The name of the entity in the store.
    public let entity: String
    /// The index, as a schema declares it; the names of attributes and to-one relationships in the store.
    public let index: IndexDescription
    /// The plan of the fetch now.
    public let plan: QueryPlan
    /// The number of rows or index entries that the fetch reads now.
    public let rowsNow: Int
    /// The number of rows that it would read with the index.
    public let rowsWithIndex: Int
    /// A Boolean value that indicates whether ``rowsWithIndex`` is an estimate: of a fetch with a limit whose condition the index serves in part only.
    public let isEstimated: Bool

    /// The declaration in a class whose properties have the names of the store: `@Attribute(.indexed) var age`, `#Index<Person>(\.city, \.age)`.
    public var declaration: String {
        index.fields.count == 1
            ? "@Attribute(.indexed) var \(index.fields[0])"
            : "#Index<\(entity)>(\(index.fields.map { "\\.\($0)" }.joined(separator: ", ")))"
    }

    public var description: String {
        "\(declaration) in \(entity): \(rowsWithIndex) \(rowsWithIndex == 1 ? "row" : "rows") read\(isEstimated ? " (estimated)" : "") instead of \(rowsNow)"
    }
}
