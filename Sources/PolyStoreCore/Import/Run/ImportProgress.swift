import PolyStoreBackend

/// How far an import run has got.
public struct ImportProgress: Sendable, Hashable {
    /// The number of records that were read, those of an earlier run that this one continues included.
    public internal(set) var records = 0
    /// The number of bytes of the source that were read; 0 for a source of values.
    public internal(set) var bytes: Int64 = 0
    /// The size of the source in bytes; nil where it is not known.
    public internal(set) var totalBytes: Int64?
    /// The number of created objects; with ``skipped`` and ``refused`` it counts what is committed and what the current transaction has done so far.
    public internal(set) var inserted = 0
    /// The number of records that changed an existing object.
    public internal(set) var updated = 0
    /// The number of records that the model left out.
    public internal(set) var skipped = 0
    /// The number of records that could not be imported and were left out.
    public internal(set) var refused = 0
    /// The number of committed transactions.
    public internal(set) var batches = 0
    /// The number of records per second, since the run began.
    public internal(set) var recordsPerSecond: Double = 0
    /// The estimated time until the end; nil where the size of the source is not known, and at the beginning.
    public internal(set) var timeLeft: Duration?
    /// The finished part of the work, from 0 to 1; nil where the size of the source is not known.
    public internal(set) var fractionCompleted: Double?
    /// A Boolean value that indicates whether the run has ended.
    public internal(set) var isFinished = false
}

extension ImportProgress: RunProgress {
    /// `12000 records, 4.2 of 10.0 MB, 35000 records/s, 3 s left`.
    public var description: String {
        var parts = ["\(records) \(records == 1 ? "record" : "records")"]
        if let totalBytes { parts.append("\(Self.megabytes(bytes)) of \(Self.megabytes(totalBytes)) MB") }
        if recordsPerSecond >= 1, recordsPerSecond < 1e15 { parts.append("\(Int64(recordsPerSecond)) records/s") }
        if refused > 0 { parts.append("\(refused) refused") }
        if let timeLeft, !isFinished { parts.append("\(timeLeft.components.seconds) s left") }
        return parts.joined(separator: ", ")
    }

    private static func megabytes(_ bytes: Int64) -> String {
        let tenths = (bytes + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
