import PolyStoreBackend
import PolyStoreKernel
import PolyStoreRuns

/// The progress of an import run.
public struct ImportProgress: Sendable, Hashable {
    /// The number of records that were read, including those of an earlier run that this one resumes.
    public internal(set) var records = 0
    /// The number of bytes of the source that were read; 0 for a source of values.
    public internal(set) var bytes: Int64 = 0
    /// The size of the source in bytes; `nil` if it is unknown.
    public internal(set) var totalBytes: Int64?
    /// The number of inserted objects. Like ``skipped`` and ``excluded`` it counts committed records and those of the current transaction.
    public internal(set) var inserted = 0
    /// The number of records that updated an existing object.
    public internal(set) var updated = 0
    /// The number of records that the model skipped.
    public internal(set) var skipped = 0
    /// The number of invalid records, which could not be imported and were excluded.
    public internal(set) var excluded = 0
    /// The number of committed transactions.
    public internal(set) var batches = 0
    /// The number of records per second, since the run began.
    public internal(set) var recordsPerSecond: Double = 0
    /// The estimated remaining time; `nil` at the beginning and if the size of the source is unknown.
    public internal(set) var timeLeft: Duration?
    /// The completed fraction of the work, from 0 to 1; `nil` if the size of the source is unknown.
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
        if excluded > 0 { parts.append("\(excluded) excluded") }
        if let timeLeft, !isFinished { parts.append("\(timeLeft.components.seconds) s left") }
        return parts.joined(separator: ", ")
    }

    private static func megabytes(_ bytes: Int64) -> String {
        let tenths = (bytes + 50_000) / 100_000
        return "\(tenths / 10).\(tenths % 10)"
    }
}
