import CFlushProbe

/// Counts the flushes (`fsync`, `fdatasync`, `msync`) of files below a folder during its lifetime, by any library in the process.
final class FlushProbe {
    private let number: Int32

    /// Returns `nil` if flushes cannot be counted: on systems other than Linux.
    init?(folder: String) {
        number = polystore_flush_probe_begin(folder)
        if number < 0 { return nil }
    }

    deinit { polystore_flush_probe_end(number) }

    var count: Int { Int(polystore_flush_probe_count(number)) }
}
