import PolyStoreBackend

// Named values of a store: what must agree with its records, and is no object. An import keeps its position there.

extension Transaction {
    /// Sets a named value of a store, or removes it, in the commit of this transaction.
    ///
    /// Only for transactions in the queue: what they read stays true until they commit, so no other transaction changes the value in between.
    /// - Parameters:
    ///   - bytes: at most ``NamedValue/longestValue``; nil removes the value.
    ///   - name: 1 to ``NamedValue/longestName`` bytes. Values of the framework begin with ``NamedValue/reservedPrefix``.
    ///   - store: one of the stack's.
    /// - Throws: `invalidValue` for a name or a value that is too long, `unsupported`, `readOnly`, `closed`; `misuse` for an unsafe transaction.
    package func setStoreValue(_ bytes: [UInt8]?, named name: String, in store: PersistentStore) throws {
        try checkMutable()
        guard !(self is UnsafeTransaction) else {
            throw StoreError(
                .misuse,
                "The value \"\(name)\" of \(store.url) cannot be set in an unsafe transaction, which others can overtake. Set it in perform.",
                url: store.url)
        }
        try checkStore(store)
        guard store.capabilities.has(.namedValues) else { throw NamedValue.unsupported(url: store.url) }
        let change = try ChangeSet.ValueChange(bytes, named: name)
        try touch(store)
        storeValues[store.index, default: [:]][Array(name.utf8)] = change
    }

    /// Returns a named value of a store as this transaction sees it: its own changes first; nil if there is none.
    package func storeValue(named name: String, in store: PersistentStore) throws -> [UInt8]? {
        try checkStore(store)
        try NamedValue.check(name: name)
        if let own = storeValues[store.index]?[Array(name.utf8)] { return own.bytes }
        return try storage(store).value(named: name)
    }

    /// Returns the names of a store's values that begin with a prefix, in ascending order of their bytes, as this transaction sees them.
    package func storeValueNames(prefix: String, in store: PersistentStore) throws -> [String] {
        try checkStore(store)
        let stored = try storage(store).valueNames(prefix: prefix)
        guard let own = storeValues[store.index] else { return stored }
        let set = own.values.filter { $0.bytes != nil && $0.name.utf8.starts(with: prefix.utf8) }.map(\.name)
        return (stored.filter { own[Array($0.utf8)] == nil } + set).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func checkStore(_ store: PersistentStore) throws {
        guard store.index < table.stores.count, table.stores[store.index] === store else {
            throw StoreError(
                .misuse, "\(store.url) is no store of this transaction's stack, or was added after the transaction began.", url: store.url)
        }
    }
}
