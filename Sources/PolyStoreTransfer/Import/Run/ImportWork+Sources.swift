import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel
import PolyStoreRuns

extension ImportWork {
    /// Imports all records of a feed.
    /// - Parameter open: Opens the source.
    @discardableResult
    func execute(_ open: () throws -> any ImportFeed<T.ImportSource>) -> Result<ImportReport, any Error> {
        do {
            try options.check()
            let feed = try open()
            defer { feed.close() }
            try importAll(feed)
            return finish(nil)
        } catch {
            return finish(error)
        }
    }

    private func importAll<F: ImportFeed<T.ImportSource>>(_ feed: F) throws {
        totalBytes = feed.totalBytes
        if let mark = try begin() {
            // Completed by an earlier run.
            if report.isComplete { return }
            do { try feed.skip(to: mark) } catch let changed as ImportSourceChanged { throw error(changed) }
        }
        mark = { [unowned feed] in feed.mark }
        while true {
            do {
                guard let source = try feed.next() else { break }
                try add(source, at: feed.recordPosition)
            } catch let problem as ImportProblem {
                try add(problem, at: feed.recordPosition)
            }
            if isFull { try commit(isLast: false) }
        }
        try commit(isLast: true)
    }

    /// Imports the elements of an asynchronous sequence. Commits run on a thread of the stack.
    /// - Parameter position: Returns the position of an element in its own source.
    func execute<S: AsyncSequence & Sendable>(
        _ sequence: S, position: (@Sendable (S.Element) -> RecordPosition?)?
    ) async -> Result<ImportReport, any Error> where S.Element == T.ImportSource, T.ImportSource: Sendable {
        do {
            try options.check()
            let skipped = try await onThread { try $0.begin()?.recordPosition.record } ?? 0
            if report.isComplete { return finish(nil) }
            var recordPosition = ImportRecordPosition()
            for try await source in sequence {
                recordPosition =
                    position?(source).map { ImportRecordPosition($0) } ?? ImportRecordPosition(record: recordPosition.record + 1)
                if recordPosition.record <= skipped { continue }
                try add(source, at: recordPosition)
                let last = ImportMark(recordPosition: recordPosition)
                mark = { last }
                if isFull { try await onThread { try $0.commit(isLast: false) } }
            }
            if recordPosition.record < skipped, !run.cancellation.isCancelled {
                throw error(ImportSourceChanged.shorter(recordPosition.record))
            }
            try await onThread { try $0.commit(isLast: true) }
            return finish(nil)
        } catch {
            return finish(error)
        }
    }

    private func onThread<R: Sendable>(_ body: @escaping @Sendable (ImportWork<T>) throws -> R) async throws -> R {
        try await core.awaitingBatchThread { try body(self) }
    }
}
