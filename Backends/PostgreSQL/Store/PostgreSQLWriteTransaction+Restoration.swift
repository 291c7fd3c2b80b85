import PolyStoreBackend

extension Session {
    func nextRowID(_ entity: Entity) throws -> Int64 {
        let table = try tables.table(entity)
        let found = try rows("SELECT next FROM \(tables.own("sequence")) WHERE entity = $1", [.text(table.entity.name)])
        if found.count == 0 { return 1 }
        guard let next = found.integer(0, 0), next > 0 else {
            throw StoreError(
                .corrupt, "The next id of \(entity.name) in polystore_sequence is not a positive integer.", entity: entity.name,
                location: connection.location)
        }
        return next
    }
}

extension PostgreSQLReadTransaction: RowIDSequences {
    func nextRowID(_ entity: Entity) throws -> Int64 { try session.nextRowID(entity) }
}

extension PostgreSQLWriteTransaction: RestoringTransaction {
    func nextRowID(_ entity: Entity) throws -> Int64 { try session.nextRowID(entity) }

    func restoreLog(_ entries: [LogEntry]) throws {
        guard let last = entries.last else { return }
        let contents = ArrayParameter(.bytes)
        for entry in entries { contents.append { buffer in entry.bytes.withUnsafeBytes { buffer.append($0) } } }
        _ = try session.rows(
            "INSERT INTO \(session.tables.own("log")) (position, version, entry) SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bytea[])",
            [.integers(entries.map(\.position)), .integers(entries.map { Int64(bitPattern: $0.version) }), contents.parameter])
        try restoreLogRemoval(through: last.position)
    }

    func restoreLogRemoval(through position: Int64) throws {
        _ = try session.rows("UPDATE \(session.tables.own("state")) SET \"lastLogEntry\" = $1", [.integer(position)])
    }

    func completeRestoration(version: UInt64, configurationName: String?) throws {
        _ = try session.rows(
            "UPDATE \(session.tables.own("metadata")) SET configuration = $1", [configurationName.map { .text($0) } ?? .null(.text)])
        // The tokens of the commits of the conversion have numbers of commits to come.
        _ = try session.rows("DELETE FROM \(session.tables.own("commits"))")
        // The commit increments it.
        _ = try session.rows("UPDATE \(session.tables.own("state")) SET version = $1", [.integer(Int64(bitPattern: version) - 1)])
    }
}
