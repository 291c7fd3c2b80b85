import PolyStoreBackend

extension QueryCompiler {
    /// Returns the sort keys. The row id is the last one.
    /// - Parameter filled: The fields that are not null in the rows.
    func order(_ keys: [SortKey], _ scope: Scope, _ filled: FieldMask) -> String {
        var terms: [String] = []
        for key in keys {
            let operand = scope.operand(key.field)
            let column = operand.sql
            let isServedWithoutNulls = scope.table.uniqueOnly.has(operand.index) && filled.has(operand.index)
            let placement = isServedWithoutNulls ? "" : key.nullsComeFirst ? " NULLS FIRST" : " NULLS LAST"
            let direction = (key.ascending ? " ASC" : " DESC") + placement
            if key.field.isObjectID {
                // Row ids are unique, so further keys have no effect.
                return (terms + [column + (key.ascending ? "" : " DESC")]).joined(separator: ", ")
            }
            // NaN precedes every number here, and follows every number in PostgreSQL.
            if operand.holdsNaN { terms.append("(\(column) <> 'NaN')\(direction)") }
            if let prefix = scope.table.prefix(of: column, operand.index) { terms.append(prefix + direction) }
            terms.append(column + direction)
        }
        return (terms + ["\(scope.alias).\(SQLNames.objectID)"]).joined(separator: ", ")
    }

    /// Returns the fields that are not null in the rows that satisfy a conjunction.
    func filledFields(_ parts: [QueryPredicate], _ table: EntityTable) -> FieldMask {
        var result = table.required
        for part in parts {
            switch part.fieldCondition {
            case .compare(let field, _, _), .oneOf(let field, _), .text(let field, _, _): result.add(field.index)
            case .compareFields(let left, _, let right):
                result.add(left.index)
                result.add(right.index)
            case .isNull, nil:
                if case .not(let negated) = part.node, case .isNull(let field)? = negated.fieldCondition { result.add(field.index) }
            }
        }
        return result
    }

    /// Returns the rows of a slice as two parts, those with null and those with a value in the first sort key; nil if the order needs no parts.
    ///
    /// The index of a unique attribute has nulls at the end, because it belongs to a constraint. It serves each part, and no more rows of a part are read than the slice contains.
    mutating func orderedParts(
        _ request: FetchRequest, _ scope: Scope, _ source: String, _ conditions: [String], _ filled: FieldMask
    ) -> String? {
        guard let key = request.sortKeys.first, let limit = request.limit, !request.ignoresIndexes, key.nullsComeFirst == key.ascending,
            scope.table.uniquelyOrdered.has(key.field.index), !filled.has(key.field.index),
            !scope.table.formats[key.field.index].holdsNaN
        else { return nil }
        let (count, isTooLarge) = limit.addingReportingOverflow(request.offset)
        guard !isTooLarge else { return nil }
        let column = scope.column(key.field)
        var filled = filled
        filled.add(key.field.index)
        let slice = "LIMIT \(request.offset == 0 ? "\(count)" : bind(.integer(Int64(count))))"
        let parts = [("IS NULL", Array(request.sortKeys.dropFirst())), ("IS NOT NULL", request.sortKeys)].map { test, keys in
            let condition = (conditions + ["\(column) \(test)"]).joined(separator: " AND ")
            return "(SELECT * FROM \(source) WHERE \(condition) ORDER BY \(order(keys, scope, filled)) \(slice))"
        }
        return "(\(parts.joined(separator: " UNION ALL "))) AS \(scope.alias)"
    }
}

extension FieldMask {
    /// Returns whether the mask contains a field; `false` for what is not a field of the record.
    func has(_ field: Int) -> Bool { field >= 0 && field < Self.capacity && contains(field) }

    /// Adds a field, and nothing for what is not a field of the record.
    fileprivate mutating func add(_ field: Int) { if field >= 0, field < Self.capacity { insert(field) } }
}
