// The order of reports: what a callback requests, such as a refetch, or causes, such as a commit, is reported when all callbacks have returned.

extension Context {
    /// Calls a body that calls observers, and then reports what was requested in their callbacks. In a callback, only the body is called.
    /// - Parameter isMove: Whether the body moves the context, so that sessions that were given back need not begin again.
    package final func reporting(isMove: Bool = false, _ body: () throws -> Void) rethrows {
        if isReporting { return try body() }
        if isMove { readDepth += 1 } else { beginReading() }
        defer { endReading() }
        isReporting = true
        defer {
            observers?.releaseKept()
            while !deferredReports.isEmpty {
                let reports = deferredReports
                deferredReports = []
                for report in reports { report() }
            }
            isReporting = false
        }
        try body()
    }

    /// Reports a change: immediately, or, in a callback, when all callbacks have returned.
    /// - Parameter report: Receives whether it was deferred.
    package final func report(_ report: @escaping (_ isDeferred: Bool) -> Void) {
        if isReporting { deferredReports.append { report(true) } } else { reporting { report(false) } }
    }
}
