import PolyStoreBackend

extension ViewContext {
    /// Makes a monitor of a list that is read off the main actor: for lists so long that reading their order would stop the main actor for a noticeable time.
    ///
    ///     let monitor = try await stack.view.loadListMonitor(From<Person>().orderBy(.ascending(\.name)))
    ///
    /// - Parameters:
    ///   - source: what to fetch.
    ///   - sectionBy: the sections; nil: a list without sections.
    /// - Throws: what a fetch throws.
    @MainActor
    public func loadListMonitor<S: FetchSource>(
        _ source: S, sectionBy: SectionBy<S.Entity>? = nil
    ) async throws -> ListMonitor<S.Entity> {
        let query = ListQuery(source.chain, sectionBy)
        startObserving()
        for _ in 0..<Self.loadAttempts {
            let loaded = try await core.loadList(query, site)
            try catchUp()
            if try shows(loaded.versions) { return try ListMonitor(self, loaded.list) }
        }
        return try ListMonitor(self, query)
    }

    /// The view may move on while a list is read; so often it is read again off the main actor.
    private static var loadAttempts: Int { 3 }

    /// A Boolean value that indicates whether the context shows these versions of its stores.
    private func shows(_ versions: [Int: UInt64]) throws -> Bool {
        for store in table.stores {
            if version(of: store) == nil { _ = try reader(store) }
            guard version(of: store) == versions[store.index] else { return false }
        }
        return true
    }
}

/// A list that was read on another thread, with the versions that it shows by store.
private struct LoadedList: @unchecked Sendable {  // handed over once, and used by the receiver alone
    let list: ObservedList
    let versions: [Int: UInt64]
}

extension StackCore {
    fileprivate func loadList(_ query: ListQuery, _ site: CallSite) async throws -> LoadedList {
        try await withCheckedThrowingContinuation { continuation in
            onReaderThread { [self] in
                continuation.resume(
                    with: Result {
                        try readNow(site) { context in
                            let list = try ObservedList(query, context)
                            var versions: [Int: UInt64] = [:]
                            for store in context.table.stores { versions[store.index] = context.version(of: store) }
                            return LoadedList(list: list, versions: versions)
                        }
                    })
            }
        }
    }
}
