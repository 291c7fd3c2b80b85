public import PolyStoreRuns

/// A running or finished import.
///
///     let run = stack.startImport(Into<City>(), from: .file(path: "cities.jsonl"))
///     for await progress in run.updates { print(progress) }
///     print(try await run.value)
///
/// Its value throws the error that ended the run: `invalidValue` for a record that could not be imported, `cancelled`, or an error of reading the source or
/// committing. The report has what was committed before.
public typealias ImportRun = Run<ImportProgress, ImportReport>

extension Run where Update == ImportProgress {
    /// The report of what the import has committed, even if it failed; `nil` until it has ended.
    public var report: ImportReport? { reported.withLock { $0 as? ImportReport } }
}
