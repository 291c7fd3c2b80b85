import PolyStoreBackend

extension ReadTransaction {
    /// Reads the members of a to-many relationship of several objects with their records, with one request.
    /// - Parameters:
    ///   - members: The destination of the relationship.
    ///   - most: The number of members above which the result is nil.
    ///   - add: Receives each member with its record, which is valid during the call.
    /// - Returns: The lists as ``RelatedRecords/related(_:of:)`` gives them; nil if a link table holds them, or if there are too many members.
    package func related(
        _ relationship: Relationship, of sources: [Int64], in members: Entity, most: Int, _ add: (Int64, RecordView) -> Void
    ) throws -> RelatedIDs? {
        guard case .inverse(let field) = relationship.storage else { return nil }
        var request = FetchRequest(
            members, predicate: .oneOf(FieldReference(members.fields[field]), sources.map { .integer($0) }))
        request.limit = most + 1
        let cursor = try fetch(request)
        defer { cursor.close() }
        var found = RelatedIDs()
        var count = 0
        while try cursor.next() {
            count += 1
            guard count <= most else { return nil }
            let record = cursor.record
            add(cursor.rowID, record)
            let source = record.integer(field)
            if let position = relationship.positionField {
                found.add(source: source, target: cursor.rowID, position: record.isNull(position) ? nil : record.integer(position))
            } else {
                found.add(source: source, target: cursor.rowID)
            }
        }
        found.sort()
        return found
    }
}
