import PolyStoreBackend

extension ReadTransaction {
    /// Reads the members of a to-many relationship of several objects with their records, with one request.
    ///
    /// The records are not needed: what only they prevent, such as one that cannot be decoded, leaves the lists to ``RelatedRecords/related(_:of:)``.
    /// - Parameters:
    ///   - members: The destination of the relationship.
    ///   - most: The number of members above which the result is nil.
    ///   - mostBytes: The size of their records above which the result is nil.
    ///   - add: Receives each member with its record, which is valid during the call. What it has received is void if the result is nil.
    /// - Returns: The lists as ``RelatedRecords/related(_:of:)`` gives them; nil if a link table holds them, if they are too large, if the server would send other
    ///   rows too, or after an error.
    /// - Throws: The error of the interruption.
    package func related(
        _ relationship: Relationship, of sources: [Int64], in members: Entity, most: Int, mostBytes: Int, _ add: (Int64, RecordView) -> Void
    ) throws -> RelatedIDs? {
        guard case .inverse(let field) = relationship.storage else { return nil }
        let predicate = QueryPredicate.oneOf(FieldReference(members.fields[field]), sources.map { .integer($0) })
        do {
            let scan = try scan(FetchRequest(members, predicate: predicate, limit: most + 1))
            defer { scan.cursor.close() }
            guard scan.residual.predicate == nil else { return nil }
            var found = RelatedIDs()
            var (rest, bytes) = (most, mostBytes)
            while try scan.cursor.next() {
                let (rowID, record) = (scan.cursor.rowID, scan.cursor.record)
                (rest, bytes) = (rest - 1, bytes - record.count)
                guard rest >= 0, bytes >= 0 else { return nil }
                add(rowID, record)
                if let position = relationship.positionField {
                    let position = record.isNull(position) ? nil : record.integer(position)
                    found.add(source: record.integer(field), target: rowID, position: position)
                } else {
                    found.add(source: record.integer(field), target: rowID)
                }
            }
            found.sort()
            return found
        } catch  where interruption?.error == nil { return nil }
    }
}
