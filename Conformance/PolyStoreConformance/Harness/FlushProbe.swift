import CFlushProbe

/// Counts the flushes (`fsync`, `fdatasync`, `msync`) of files below a folder during its lifetime, by any library in the process.
package final class FlushProbe {
    private let number: Int32

    /// Returns `nil` if flushes cannot be counted: on systems other than Linux.
    package init?(folder: String) {
        number = polystore_flush_probe_begin(folder)
        if number < 0 { return nil }
    }

    deinit { polystore_flush_probe_end(number) }

    /// Calls an observer after each flush of a file below the folder that the current thread makes while `body` runs.
    package func observing<Result>(_ observer: @escaping () -> Void, _ body: () throws -> Result) rethrows -> Result {
        let observer = FlushObserver(observer)
        polystore_flush_probe_observe(
            number, { context in if let context { Unmanaged<FlushObserver>.fromOpaque(context).takeUnretainedValue().body() } },
            Unmanaged.passUnretained(observer).toOpaque())
        defer { withExtendedLifetime(observer) { polystore_flush_probe_observe(number, nil, nil) } }
        return try body()
    }

    package var count: Int { Int(polystore_flush_probe_count(number)) }
}

private final class FlushObserver {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
}
