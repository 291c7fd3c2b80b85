import CFlushProbe

/// Counts the flushes of files below a folder while it exists: `fsync`, `fdatasync`, `msync`, of any library in the process.
final class FlushProbe {
    private let number: Int32

    /// nil where flushes cannot be counted: on systems other than Linux.
    init?(folder: String) {
        number = polystore_flush_probe_begin(folder)
        if number < 0 { return nil }
    }

    deinit { polystore_flush_probe_end(number) }

    var count: Int { Int(polystore_flush_probe_count(number)) }
}
