import PolyStoreBackend

extension KeyValueReadTransaction: RowIDSequences {
    func nextRowID(_ entity: Entity) throws -> Int64 { try reading(entity).nextID(entity) }
}

extension KeyValueWriteTransaction: RestoringTransaction {
    func restoreLog(_ entries: [LogEntry]) throws {
        try restore { reader, writer in try reader.restoreLog(entries, to: writer) }
    }

    func restoreLogRemoval(through position: Int64) throws {
        try restore { reader, writer in try reader.restoreLogRemoval(through: position, to: writer) }
    }

    func completeRestoration(version: UInt64, configurationName: String?) throws {
        var identity = layout.storeIdentity
        identity.configuration = configurationName
        let bytes = identity.bytes
        try restore { _, writer in try SealedValue.put(Keyspace.Metadata.identity.key(), bytes, writer) }
        setNextVersion(version)
    }
}
