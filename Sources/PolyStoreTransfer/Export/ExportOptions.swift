import PolyStoreFormats
import PolyStoreKernel

/// The fields that an export writes, and their names.
///
///     var options = ExportOptions<City>()
///     options.fields = [\.name, \.population, \.country]
///     options.names = ["population": "inhabitants"]
public struct ExportOptions<T: Model>: Sendable {
    /// The attributes and relationships to write, in order; `nil` writes all of them. A to-one relationship is written as the unique id of its target, a
    /// to-many relationship as an array of unique ids.
    public var fields: [PartialKeyPath<T> & Sendable]?
    /// The names of fields in the destination, by the stored names of their properties. A property that is not listed keeps its stored name.
    public var names: [String: String] = [:]

    /// Creates options.
    public init(fields: [PartialKeyPath<T> & Sendable]? = nil, names: [String: String] = [:]) {
        self.fields = fields
        self.names = names
    }
}
