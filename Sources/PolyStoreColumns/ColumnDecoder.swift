import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel

/// Converts the values of a selected column to its type.
struct ColumnDecoder: Sendable {
    private let decoder: ResultDecoder
    private let type: String

    fileprivate init<V>(of type: V.Type) {
        decoder = ResultDecoder(of: type)
        self.type = "\(type)"
    }

    /// Checks that values of a column can be converted.
    /// - Throws: `invalidPredicate` if the column has a type of more than one value, or is null where a relationship leads to no object and is not optional.
    func check(_ column: ColumnValue, _ entity: String) throws {
        if decoder.isUnsupported {
            throw StoreError(
                .invalidPredicate,
                "A row cannot hold \(column.text), a \(type). Select its count or an aggregate of a property, or fetch the objects.",
                entity: entity)
        }
        if column.isOfRelated, !decoder.isOptional {
            throw StoreError(
                .invalidPredicate,
                "\(column.text) is null where a relationship leads to no object, and \(type) is not optional. Select \(column.text).orNil, or give a value with ??.",
                entity: entity)
        }
    }

    fileprivate func decode(_ value: QueryValue?, _ column: ColumnValue, _ context: Context, _ entity: String) throws -> Any? {
        guard let value else {
            if decoder.isOptional { return nil }
            throw StoreError(
                .invalidValue, "\(column.text) is null, and \(type) is not optional. Select \(column.text).orNil, or give a value with ??.",
                entity: entity)
        }
        guard let found = try decoder.decode(value, context) else {
            // The context has deleted the object, and the query reads committed data.
            if decoder.isObject, decoder.isOptional { return nil }
            throw StoreError(.invalidValue, "\(column.text) is \(value), which is no \(type).", entity: entity)
        }
        return found
    }

    fileprivate var isObject: Bool { decoder.isObject }
}

extension SelectedColumns {
    /// Returns the objects in some rows, which are read together.
    func objects(of rows: [[QueryValue?]], _ context: Context) throws -> [AnyObject] {
        var found: [AnyObject] = []
        for (index, decoder) in decoders.enumerated() where decoder.isObject {
            var ids: [ObjectIdentifier: [AnyObjectID]] = [:]
            for case .objectID(let id)? in rows.map({ $0[index] }) { ids[ObjectIdentifier(id.entry), default: []].append(id) }
            func read<M: Model>(_ type: M.Type, _ ids: [AnyObjectID]) throws -> [AnyObject] {
                try context.fetchExisting(ids.compactMap { $0.cast(to: M.self) })
            }
            for group in ids.values { if let first = group.first { found += try read(first.entry.type, group) } }
        }
        return found
    }
}

/// The columns of a selection.
struct SelectedColumns: Sendable {
    private(set) var values: [ColumnValue] = []
    private(set) var decoders: [ColumnDecoder] = []

    init<each V>(_ columns: repeat Column<each V>) { for column in repeat each columns { add(column) } }

    private mutating func add<V>(_ column: Column<V>) {
        values.append(column._$value)
        decoders.append(ColumnDecoder(of: V.self))
    }
}

extension ColumnValue {
    /// The value as text, for messages and as its name in a row: the names of a path, or the value as in a format string.
    var text: String {
        guard let operand = try? operand else { return "a column" }
        if case .path(let path) = operand { return path.keys.joined(separator: ".") }
        return operand.description
    }
}

/// A row that is being converted, from the first column to the last.
struct ColumnRow {
    private let values: [QueryValue?]
    private let selected: SelectedColumns
    private let context: Context
    private let entity: String
    private var index = 0

    init(_ values: [QueryValue?], _ selected: SelectedColumns, _ context: Context, _ entity: String) {
        (self.values, self.selected, self.context, self.entity) = (values, selected, context, entity)
    }

    /// Returns the value of the next column.
    mutating func next<V>(_ type: V.Type) throws -> V {
        defer { index += 1 }
        let found = try selected.decoders[index].decode(values[index], selected.values[index], context, entity)
        // Converts a missing value to nil of the optional type.
        guard let value = found as? V else {
            throw StoreError(.invalidValue, "\(selected.values[index].text) is no \(V.self).", entity: entity)
        }
        return value
    }
}
