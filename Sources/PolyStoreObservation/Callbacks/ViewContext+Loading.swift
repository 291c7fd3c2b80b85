import PolyStoreBackend
import PolyStoreKernel

extension ViewContext {
    /// Returns a monitor of a list that is read off the main actor. Use it for lists that take so long to read that the main actor would be blocked noticeably.
    ///
    ///     let monitor = try await stack.view.loadListMonitor(From<Person>().orderBy(.ascending(\.name)))
    ///
    /// - Parameters:
    ///   - source: The query.
    ///   - sectionBy: The sections; `nil` for a list without sections.
    /// - Throws: Errors of a fetch.
    @MainActor
    public func loadListMonitor<S: FetchSource>(
        _ source: S, sectionBy: SectionBy<S.Entity>? = nil
    ) async throws -> ListMonitor<S.Entity> {
        let query = ListQuery(source.chain, sectionBy)
        startObserving()
        for _ in 0..<Self.loadAttempts {
            let loaded = try await core.loadList(query, site)
            try catchUp()
            if try shows(loaded.versions) { return ListMonitor(self, FollowedList(loaded.rows, self)) }
        }
        return ListMonitor(self, try FollowedList(query, self))
    }

    /// The number of attempts to read a list off the main actor. An attempt fails if the view advances meanwhile.
    private static var loadAttempts: Int { 3 }

    /// Returns whether the context shows the given versions of its stores.
    private func shows(_ versions: [Int: UInt64]) throws -> Bool {
        beginReading()
        defer { endReading() }
        for store in table.openStores {
            if version(of: store) == nil { _ = try reader(store) }
            guard version(of: store) == versions[store.index] else { return false }
        }
        return true
    }
}

/// A list that was read on another thread, with the versions of the stores that it shows.
private struct LoadedList: @unchecked Sendable {  // handed over once, and used by the receiver alone
    let rows: ListRows
    let versions: [Int: UInt64]
}

extension StackCore {
    fileprivate func loadList(_ query: ListQuery, _ site: CallSite) async throws -> LoadedList {
        try await awaitingReaderThread { [self] in
            try readNow(site) { context in
                let rows = try ListRows(query, query.resolve(context), context)
                var versions: [Int: UInt64] = [:]
                for store in context.table.openStores { versions[store.index] = context.version(of: store) }
                return LoadedList(rows: rows, versions: versions)
            }
        }
    }
}
