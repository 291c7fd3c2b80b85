import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel
import PolyStoreRuns

/// The parameters of an import run, except its source.
struct ImportStart<T: ImportableObject> {
    let core: StackCore
    let into: Into<T>
    let options: ImportOptions
    let site: CallSite
    /// The name of the source; `nil` if it has none.
    let sourceName: String?
    /// The format of the source, for the position of a resumable import.
    let format: String
    let run: ImportRun
    /// The name of the imported entity in reports, errors and the position of a resumable import.
    let entityName: String
    let observer: (any ImportRunObserver)?

    init(
        _ stack: DataStack, _ into: Into<T>, _ options: ImportOptions, _ site: CallSite, sourceName: String?, format: String,
        entityName: String = T._$entityName, observer: (any ImportRunObserver)? = nil
    ) {
        (self.entityName, self.observer) = (entityName, observer)
        core = stack.core
        self.into = into
        self.options = options
        self.site = site
        self.sourceName = sourceName
        self.format = format
        run = Run("Importing \(entityName)\(sourceName.map { " from \($0)" } ?? "")", ImportProgress())
    }

    private func work(_ caller: WaitingCaller) -> ImportWork<T> {
        let fingerprint = ImportPosition.Fingerprint(
            source: sourceName ?? "", format: format, entity: entityName, configuration: into.configuration.flatMap { $0 })
        let resume = options.resumeName.map { ImportResume($0, fingerprint, into) }
        return ImportWork(core, into, entityName, sourceName, options, resume, run, site, caller, observer)
    }

    /// Imports on a thread of the stack.
    func start(_ open: @escaping @Sendable () throws -> any ImportFeed<T.ImportSource>) -> ImportRun {
        let work = work(.thread)
        core.onBatchThread { work.execute(open) }
        return run
    }

    /// Imports an asynchronous sequence.
    func start<S: AsyncSequence & Sendable>(
        _ sequence: S, position: (@Sendable (S.Element) -> RecordPosition?)?
    ) -> ImportRun where S.Element == T.ImportSource, T.ImportSource: Sendable {
        let work = work(.thread)
        let task = Task.detached { await work.execute(sequence, position: position) }
        run.setCancellation { task.cancel() }
        return run
    }

    /// Imports on the thread of the caller.
    func runNow(
        isolation: isolated (any Actor)?, _ open: () throws -> any ImportFeed<T.ImportSource>
    ) throws -> ImportReport {
        try runNow(WaitingCaller(isolation), open)
    }

    func runNow(_ caller: WaitingCaller, _ open: () throws -> any ImportFeed<T.ImportSource>) throws -> ImportReport {
        try work(caller).execute(open).get()
    }
}

extension ImportRun {
    /// Returns the report of the run. Cancels the run if the calling task is cancelled. Afterwards the views show the committed objects.
    func finished(_ core: StackCore) async throws -> ImportReport {
        let result = await withTaskCancellationHandler {
            await Result.of { try await self.value }
        } onCancel: {
            cancel()
        }
        await core.awaitViews()
        return try result.get()
    }
}

extension Result where Failure == any Error {
    /// Returns the result of an asynchronous body.
    static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}
