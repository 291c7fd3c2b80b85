/// A field of a JSON attribute that is a component of an index.
///
/// It has an index after those of the record's fields, so that a planner can treat it as a field: ``QueryPredicate/replacingIndexedJSON(of:)`` replaces the values
/// within JSON attributes by such fields, and ``QueryPredicate/restoringIndexedJSON(of:)`` restores them. Records do not contain these fields.
package struct IndexedJSONField: Sendable, Hashable {
    /// The index of the JSON attribute.
    package let attribute: Int
    /// The value within the attribute.
    package let json: JSONField
    /// The value as a field.
    package let field: Field

    /// Returns the fields of JSON attributes in indexes, each once, in the order of their field indexes.
    static func all(of indexes: [Index], _ fields: [Field]) -> [IndexedJSONField] {
        var found: [IndexedJSONField] = []
        for index in indexes {
            for part in index.parts {
                guard let json = part.json, !found.contains(where: { $0.attribute == part.field && $0.json == json }) else { continue }
                let field = Field(
                    index: fields.count + found.count, name: ([fields[part.field].name] + json.keys).joined(separator: "."),
                    type: json.type,
                    isOptional: true, relationship: nil, defaultValue: nil)
                found.append(IndexedJSONField(attribute: part.field, json: json, field: field))
            }
        }
        return found
    }
}

extension Entity {
    /// Returns the field of a component of an index: a field of the record, or an ``IndexedJSONField``.
    package func field(of part: Index.Part) -> Field {
        guard part.json != nil else { return fields[part.field] }
        return indexedJSON.first { $0.attribute == part.field && $0.json == part.json }?.field ?? fields[part.field]
    }

    /// Returns the field of JSON at a field index; `nil` for the index of a field of the record.
    package func indexedJSON(at fieldIndex: Int) -> IndexedJSONField? {
        let position = fieldIndex - fields.count
        return indexedJSON.indices.contains(position) ? indexedJSON[position] : nil
    }
}

extension QueryExpression {
    /// The expression as a field, if it is a value within a JSON attribute of the object itself that is a component of an index.
    package func indexedJSON(of entity: Entity) -> IndexedJSONField? {
        guard !entity.indexedJSON.isEmpty, case .json(let json, let inner) = node, let attribute = inner.asField else { return nil }
        return entity.indexedJSON.first { $0.attribute == attribute.index && $0.json == json }
    }

    fileprivate func replacingIndexedJSON(of entity: Entity) -> QueryExpression {
        indexedJSON(of: entity).map { .field(FieldReference($0.field)) } ?? self
    }

    fileprivate func restoringIndexedJSON(of entity: Entity) -> QueryExpression {
        guard let field = asField, let indexed = entity.indexedJSON(at: field.index) else { return self }
        return .json(indexed.json, of: .field(FieldReference(entity.fields[indexed.attribute]))) ?? self
    }
}

extension QueryPredicate {
    /// Returns the predicate with fields in place of values within JSON attributes that are components of indexes; see ``IndexedJSONField``.
    package func replacingIndexedJSON(of entity: Entity) -> QueryPredicate {
        entity.indexedJSON.isEmpty ? self : mappingOperands { $0.replacingIndexedJSON(of: entity) }
    }

    /// Returns the predicate with values within JSON attributes in place of the fields of ``replacingIndexedJSON(of:)``.
    package func restoringIndexedJSON(of entity: Entity) -> QueryPredicate {
        entity.indexedJSON.isEmpty ? self : mappingOperands { $0.restoringIndexedJSON(of: entity) }
    }

    /// Returns the predicate with other operands. Conditions on related objects stay.
    private func mappingOperands(_ map: (QueryExpression) -> QueryExpression) -> QueryPredicate {
        switch node {
        case .constant, .related, .search: self
        case .compare(let left, let comparison, let right): QueryPredicate(.compare(map(left), comparison, map(right)))
        case .isNull(let expression): QueryPredicate(.isNull(map(expression)))
        case .oneOf(let expression, let values): QueryPredicate(.oneOf(map(expression), values))
        case .text(let left, let operation, let right): QueryPredicate(.text(map(left), operation, map(right)))
        case .and(let parts): QueryPredicate(.and(parts.map { $0.mappingOperands(map) }))
        case .or(let parts): QueryPredicate(.or(parts.map { $0.mappingOperands(map) }))
        case .not(let part): QueryPredicate(.not(part.mappingOperands(map)))
        }
    }
}

extension FetchRequest {
    /// The request with fields in place of sort keys by values within JSON attributes that are components of indexes; `nil` if another sort key is computed, or
    /// if none is.
    ///
    /// Transactions that are ``OrdersByIndexedJSON`` receive the requests that have one.
    package var orderedByIndexedJSON: FetchRequest? {
        var copy = self
        var isOrdered = false
        for (position, key) in sortKeys.enumerated() {
            guard let expression = key.expression else { continue }
            guard let indexed = expression.indexedJSON(of: entity) else { return nil }
            copy.sortKeys[position] = SortKey(FieldReference(indexed.field), ascending: key.ascending, nulls: key.nulls)
            isOrdered = true
        }
        return isOrdered ? copy : nil
    }
}

/// A read transaction whose `scan` accepts sort keys by values within JSON attributes that are components of indexes; see
/// ``FetchRequest/orderedByIndexedJSON``. Other transactions never receive computed sort keys.
package protocol OrdersByIndexedJSON: ReadTransaction {
    /// A Boolean value that indicates whether `scan` accepts such sort keys. The default is `true`.
    var ordersByIndexedJSON: Bool { get }
}

extension OrdersByIndexedJSON {
    package var ordersByIndexedJSON: Bool { true }
}
