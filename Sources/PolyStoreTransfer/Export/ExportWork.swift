import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel
import PolyStoreRuns

/// The execution of one export.
final class ExportWork<T: Model>: @unchecked Sendable {  // only the thread that runs it changes it
    private let core: StackCore
    private let chain: FetchChain<T>
    private let destination: ExportDestination
    private let options: ExportOptions<T>
    private let site: CallSite
    let run: ExportRun
    private var report: ExportReport
    private var total: Int?
    private var clock = RunClock()

    init(_ stack: DataStack, _ chain: FetchChain<T>, _ destination: ExportDestination, _ options: ExportOptions<T>, _ site: CallSite) {
        core = stack.core
        self.chain = chain
        self.destination = destination
        self.options = options
        self.site = site
        report = ExportReport(entity: options.entityName ?? T._$entityName)
        run = Run("Exporting \(options.entityName ?? T._$entityName) to \(destination.name)", ExportProgress())
    }

    func start() -> ExportRun {
        let (threads, item) = (core.readerThreads, BlockingThreads.Item())
        threads.submit(item) {
            self.execute()
            return {}
        } onCancel: {
            // Ends immediately with the error of a cancelled export.
            self.execute()
        }
        run.setCancellation { threads.cancel(item) }
        return run
    }

    @discardableResult
    func execute() -> Result<ExportReport, any Error> {
        var failure: StoreError?
        do { try core.readNow(site, retries: 0) { try write($0) } } catch { failure = described(error) }
        report.duration = clock.elapsed
        let result: Result<ExportReport, any Error> = failure.map { .failure($0) } ?? .success(report)
        var last = progress
        last.isFinished = true
        last.timeLeft = nil
        run.reported.withLock { $0 = report }
        run.finish(result, last: last)
        return result
    }

    private func write(_ context: SnapshotContext) throws {
        try checkCancellation()
        let reader = try ExportReader(context, chain, options)
        total = try context.fetchCount(chain)
        let (writer, counter) = try destination.open(columns: reader.names)
        let template = JSONObject(reader.names.map { ($0, .null) })
        do {
            try reader.read { rows in
                try checkCancellation()
                for row in rows { try writer.write(JSONObject(namesOf: template, values: row)) }
                report.objects += rows.count
                report.bytes = counter.count
                if clock.isDueNow() { run.update(progress) }
            }
            try writer.finish()
        } catch {
            writer.cancel()
            throw error
        }
        report.bytes = counter.count
    }

    private func checkCancellation() throws {
        guard run.cancellation.isCancelled else { return }
        throw StoreError(
            .cancelled, "The export of \(report.entity) to \(destination.name) was cancelled after \(report.objects) objects.")
    }

    private func described(_ error: any Error) -> StoreError {
        guard let error = error as? RecordError else { return StoreError(wrappingImport: error) }
        var described = StoreError(wrappingImport: error)
        if let position = error.position {
            let field = error.field.map { ", field \"\($0)\"" } ?? ""
            described.message = "\(destination.name), object \(position.record)\(field): \(error.reason)."
        }
        described.entity = T._$entityName
        return described
    }

    private var progress: ExportProgress {
        var now = ExportProgress()
        now.objects = report.objects
        now.totalObjects = total
        if let total { now.fractionCompleted = total > 0 ? min(1, Double(report.objects) / Double(total)) : 1 }
        now.objectsPerSecond = clock.rate(report.objects)
        now.timeLeft = clock.timeLeft(now.fractionCompleted)
        return now
    }
}
