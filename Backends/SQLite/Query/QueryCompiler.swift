import PolyStoreBackend

/// Compiles a request into a ``CompiledQuery`` in one pass. Conditions that SQL cannot evaluate, or not efficiently, become the residual predicate.
struct QueryCompiler {
    private let tables: StoreTables
    // Working memory. A compiled query shares it until the next compilation, which reuses it if that query has been released.
    var words: ContiguousArray<UInt32> = []
    private(set) var bindings: ContiguousArray<Binding> = []
    /// A Boolean value that indicates whether conditions may be tested for all rows of the table, because neither a limit nor an indexed condition selects few of
    /// them; nil until the first condition on related objects.
    private(set) var testsAllRows: Bool?

    /// The maximum number of parameters of a statement. SQLite's own limit is 32,766.
    static let mostBindings = 4096
    /// The number of values above which an `IN` list is bound as one array, or becomes residual.
    static let mostListed = 512
    /// The maximum nesting depth; deeper conditions become residual. SQLite's parser accepts about 40 nested parentheses (its stack has 100 entries).
    static let deepest = 20

    init(_ tables: StoreTables) { self.tables = tables }

    /// Returns the destination table of a relationship.
    func destination(_ relationship: Relationship) -> EntityTable { tables.entities[relationship.destination] }

    /// Compiles a request.
    /// - Parameters:
    ///   - table: The table of the requested entity.
    ///   - avoided: The fields whose indexes must not serve a condition of the request's conjunction.
    ///   - counting: Whether the statement returns the number of rows instead of the rows.
    ///   - countsRows: Whether the statement reports every row that it examines; see ``RowCounter``.
    /// - Throws: `invalidPredicate` for a constant of another type than its field.
    mutating func compile(
        _ request: FetchRequest, _ table: EntityTable, _ misordered: borrowing MisorderedColumns, avoiding avoided: FieldMask = FieldMask(),
        counting: Bool = false, countsRows: Bool = false
    ) throws -> CompiledQuery {
        words.removeAll(keepingCapacity: true)
        bindings.removeAll(keepingCapacity: true)
        testsAllRows = nil
        words.append(UInt32(truncatingIfNeeded: table.entity.index))
        words.append(0)
        var residual: [QueryPredicate] = []
        try conditions(request, table, misordered, avoided, &residual)

        var flags: QueryShape.Flags = counting ? .count : []
        if request.onlyIDs && residual.isEmpty { flags.insert(.onlyIDs) }
        if residual.isEmpty {
            if let limit = request.limit {
                flags.insert(.limit)
                bindings.append(.integer(Int64(limit)))
            }
            if request.offset > 0 {
                flags.insert(.offset)
                bindings.append(.integer(Int64(request.offset)))
            }
        }
        if request.ignoresIndexes { flags.insert(.ignoresIndexes) }
        if countsRows { flags.insert(.countsRows) }
        var selectedFields: [Int]?
        if !counting {
            if let fields = request.fields, !flags.contains(.onlyIDs) {
                selectedFields = select(fields, residual, table)
                flags.insert(.fields)
            }
            order(request.sortKeys, table, misordered)
        }
        words[1] = flags.rawValue
        return CompiledQuery(
            table: table, shape: QueryShape(words), bindings: bindings, selectedFields: selectedFields, onlyIDs: flags.contains(.onlyIDs),
            residual: residual.isEmpty ? nil : .and(residual))
    }

    /// Appends the number of conditions, then each condition.
    private mutating func conditions(
        _ request: FetchRequest, _ table: EntityTable, _ misordered: borrowing MisorderedColumns, _ avoided: FieldMask,
        _ residual: inout [QueryPredicate]
    ) throws {
        let countAt = words.count
        words.append(0)
        var count: UInt32 = 0
        func push(_ part: QueryPredicate, _ compiler: inout QueryCompiler, _ misordered: borrowing MisorderedColumns) throws {
            let before = (compiler.words.count, compiler.bindings.count)
            switch part.node {
            case .not, .or, .related:
                if compiler.testsAllRows == nil, part.needsRelated { compiler.testsAllRows = !Self.selectsFewRows(request, table) }
            default: break
            }
            if try compiler.condition(part, table, misordered, depth: 0, isTruthEnough: true)
                && compiler.bindings.count <= Self.mostBindings
            {
                count += 1
                compiler.avoidIndexes(of: avoided, at: before.0)
            } else {
                compiler.words.removeSubrange(before.0...)
                compiler.bindings.removeSubrange(before.1...)
                residual.append(part)
            }
        }
        switch request.predicate.node {
        case .constant(true): break
        case .and(let parts): for part in parts { try push(part, &self, misordered) }
        default: try push(request.predicate, &self, misordered)
        }
        words[countAt] = count
    }

    /// Returns whether a limit, or a condition on the row id or on the leading field of an index, selects few rows.
    private static func selectsFewRows(_ request: FetchRequest, _ table: EntityTable) -> Bool {
        if request.limit != nil { return true }
        return request.predicate.conjuncts.contains { part in
            switch part.replacingIndexedJSON(of: table.entity).fieldCondition {
            case .compare(let field, let comparison, _)?: comparison != .notEqual && (field.isObjectID || table.isLeading(field.index))
            case .oneOf(let field, _)?: field.isObjectID || table.isLeading(field.index)
            default: false
            }
        }
    }

    /// Marks the condition at an offset of ``words`` if it is on one of the fields, so that no index serves it.
    private mutating func avoidIndexes(of avoided: FieldMask, at offset: Int) {
        guard !avoided.isEmpty, offset < words.count, let word = ShapeWord(words[offset]), word.fieldIndex >= 0,
            word.fieldIndex < FieldMask.capacity, avoided.contains(word.fieldIndex)
        else { return }
        words[offset] = word.avoidingIndexes.bits
    }

    /// Appends the number of fields that are read, then each: the requested fields and those of the residual predicate.
    /// - Returns: the field indexes.
    private mutating func select(_ fields: FieldMask, _ residual: [QueryPredicate], _ table: EntityTable) -> [Int] {
        var fields = fields
        for part in residual { part.collectFields(into: &fields) }
        let selected = fields.indexes.filter { $0 < table.fieldCount }
        append(count: selected.count)
        for field in selected { append(count: field) }
        return selected
    }

    /// Appends a word per sort key: the direction, the position of nulls if it is not SQLite's default, and whether SQLite's order must be corrected.
    private mutating func order(_ keys: [SortKey], _ table: EntityTable, _ misordered: borrowing MisorderedColumns) {
        for key in keys {
            var word = UInt32(truncatingIfNeeded: key.field.index + 1) << 16
            if !key.ascending { word |= 1 }
            let isJSON = key.field.index >= table.fieldCount
            if key.nullsComeFirst != key.ascending, !key.field.isObjectID, isJSON || table.entity.fields[key.field.index].isOptional {
                word |= 2
            }
            if !isJSON, misordered.contains(key.field, of: table.entity.index) { word |= 4 }
            words.append(word)
            // Ids are unique, so further sort keys have no effect.
            if key.field.isObjectID { return }
        }
        words.append(0)
    }

    mutating func append(_ word: ShapeWord) { words.append(word.bits) }
    mutating func append(count: Int) { words.append(UInt32(truncatingIfNeeded: count)) }
    mutating func bind(_ value: Binding) { bindings.append(value) }
}
