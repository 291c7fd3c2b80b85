import PolyStoreBackend

// Named values of a store: metadata that is committed together with its records, such as the position of an import.

extension Transaction {
    /// Sets or removes a named value of a store when this transaction commits.
    ///
    /// Available in queued transactions only: values that they read cannot be changed by another transaction before they commit.
    /// - Parameters:
    ///   - bytes: at most ``NamedValue/longestValue``; nil removes the value.
    ///   - name: 1 to ``NamedValue/longestName`` bytes. The prefix ``NamedValue/reservedPrefix`` is reserved for the framework.
    ///   - store: a store of the stack.
    /// - Throws: `invalidValue` for a name or a value that is too long, `unsupported`, `readOnly`, `closed`; `misuse` for an unqueued transaction.
    package func setStoreValue(_ bytes: [UInt8]?, named name: String, in store: PersistentStore) throws {
        try checkMutable()
        guard buffer.tracker == nil else {
            throw StoreError(
                .misuse,
                "The value \"\(name)\" of \(store.location) cannot be set in an unsafe transaction, which others can overtake. Set it in perform.",
                location: store.location)
        }
        try checkStore(store)
        guard store.capabilities.has(.namedValues) else { throw NamedValue.unsupported(location: store.location) }
        let change = try ChangeSet.ValueChange(bytes, named: name)
        try touch(store)
        buffer.storeValues[store.index, default: [:]][Array(name.utf8)] = change
    }

    /// Returns a named value of a store including pending changes, or nil if it is not set.
    package func storeValue(named name: String, in store: PersistentStore) throws -> [UInt8]? {
        try checkStore(store)
        try NamedValue.check(name: name)
        if let pending = buffer.storeValues[store.index]?[Array(name.utf8)] { return pending.bytes }
        return try storage(store).value(named: name)
    }

    /// Returns the names of a store's values with a prefix including pending changes, in ascending byte order. Those that are reserved for the
    /// framework are omitted, unless the prefix begins with ``NamedValue/reservedPrefix``.
    package func storeValueNames(prefix: String, in store: PersistentStore) throws -> [String] {
        try checkStore(store)
        let reserved = NamedValue.reservedPrefix.utf8
        let isReserved = prefix.utf8.starts(with: reserved)
        let stored = try storage(store).valueNames(prefix: prefix).filter { isReserved || !$0.utf8.starts(with: reserved) }
        guard let pending = buffer.storeValues[store.index] else { return stored }
        let set = pending.values.filter { $0.bytes != nil && $0.name.utf8.starts(with: prefix.utf8) }.map(\.name)
        return (stored.filter { pending[Array($0.utf8)] == nil } + set).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func checkStore(_ store: PersistentStore) throws {
        guard table.isOpen(store) else {
            throw StoreError(
                .misuse, "\(store.location) is not a store of this transaction's stack, or was added after the transaction began.",
                location: store.location)
        }
    }
}
