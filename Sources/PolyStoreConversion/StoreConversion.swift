import Dispatch
public import PolyStoreBackend
public import PolyStoreKernel
public import PolyStoreRuns

/// A running or finished conversion.
public typealias ConversionRun = Run<ConversionProgress, ConversionReport>

/// Copies a whole store to a new store of any backend.
///
///     let report = try await StoreConversion(from: .sqlite(file: "company.sqlite"), to: .lmdb(file: "company.lmdb")).run()
///
/// The target has the same schema, objects with the same ids, links, history and named values. Rules and delete rules are not run. The source is read in one snapshot, and other
/// programs can use it meanwhile; LevelDB permits one process. Before the target becomes a store that can be opened, it is read again and compared with the source.
///
/// A conversion that is interrupted leaves an incomplete target, which every ordinary opening refuses. The same conversion continues it. Memory does not grow with the store,
/// except with the number of targets of one object in one to-many relationship over a link table.
public struct StoreConversion: Sendable {
    enum Source: Sendable {
        case configuration(StoreConfiguration)
        case backend(any StorageBackend, location: String)
    }

    let source: Source
    let target: StoreConfiguration
    /// A Boolean value that indicates whether an incomplete target is deleted and written from the beginning. The default is `false`: it is continued if the source is unchanged.
    public var startsOver = false
    /// The logger for messages of the stores.
    public var logger: any StoreLogger = StandardErrorLogger()

    /// Creates a conversion.
    /// - Parameters:
    ///   - source: The store to read. It must exist.
    ///   - target: The store to create. Nothing may exist there, except the incomplete target of the same conversion.
    public init(from source: StoreConfiguration, to target: StoreConfiguration) {
        self.source = .configuration(source)
        self.target = target
    }

    /// Creates a conversion of stores that are given by URLs.
    /// - Parameter engines: The available engines; by default those registered with `StoreEngines.register(_:)`.
    /// - Throws: `misuse` for an invalid URL, `unsupported` for an unknown engine.
    public init(from source: String, to target: String, engines: StoreEngines = .registered) throws {
        self.init(from: try engines.configuration(source), to: try engines.configuration(target))
    }

    /// Creates a conversion of an open store, which can be one in memory. It reads the newest commit.
    public init(from source: PersistentStore, to target: StoreConfiguration) {
        self.source = .backend(source.backend, location: source.location)
        self.target = target
    }

    /// Creates a conversion of an open store of a backend.
    public init(from source: any StorageBackend, to target: StoreConfiguration) {
        self.source = .backend(source, location: "the source")
        self.target = target
    }

    /// Executes the conversion on the caller's thread.
    /// - Parameter progress: Called often on this thread. An error that it throws ends the conversion, which can be resumed.
    /// - Returns: What was copied, and the digests.
    /// - Throws: `io` if the target exists or the source does not; `busy` if another conversion writes to the target, or another process has an engine of one process open; `conflict` if an
    ///   incomplete target is that of another source or version; `corrupt` if the target differs from the source, with entity and row id; `full`, `cancelled`.
    public func runAndWait(progress: @escaping (ConversionProgress) throws -> Void = { _ in }) throws -> ConversionReport {
        try execute(Interruption(), progress)
    }

    /// Executes the conversion on a thread of its own. The calling task waits without blocking a thread, and cancels the conversion if the task is cancelled.
    /// - Throws: As ``runAndWait(progress:)``.
    public func run() async throws -> ConversionReport {
        let run = start()
        return try await withTaskCancellationHandler {
            try await run.value
        } onCancel: {
            run.cancel()
        }
    }

    /// Starts the conversion on a thread of its own and returns a handle that reports the progress and cancels it.
    public func start() -> ConversionRun {
        let run = ConversionRun("Converting to \(target.location)", ConversionProgress())
        Self.queue.async {
            var clock = RunClock()
            var last = ConversionProgress()
            let result = Result {
                try execute(run.cancellation) { progress in
                    last = progress
                    if clock.isDueNow() { run.update(progress) }
                }
            }
            run.finish(result, last: last)
        }
        return run
    }

    /// A dispatch queue, because a backend blocks and must not block Swift's cooperative threads.
    private static let queue = DispatchQueue(label: "polystore.conversion", qos: .utility, attributes: .concurrent)

    private func execute(
        _ interruption: Interruption, _ progress: @escaping (ConversionProgress) throws -> Void
    ) throws -> ConversionReport {
        let opened =
            switch source {
            case .configuration(let configuration): try ConversionSource(configuration, logger)
            case .backend(let backend, let location): try ConversionSource(backend, location)
            }
        defer { opened.close() }
        return try ConversionWork(opened, target, startsOver: startsOver, logger, interruption, progress).execute()
    }
}
