import PolyStoreBackend

extension DataStack {
    /// Writes objects to a file or another destination, in JSON Lines, JSON or CSV.
    ///
    ///     try await stack.export(From<City>().where(\.population > 1_000_000).orderBy(.ascending(\.name)), to: .file(path: "cities.jsonl"))
    ///
    /// Everything is read from one snapshot, beside any writer, a batch at a time: memory does not grow with the number of objects, unless the order is
    /// one that no index gives. Numbers are written exactly, dates in ISO 8601, data in base64, Codable values as JSON, and relationships as the unique ids of
    /// their targets, so that an import gives equal objects. In CSV, a to-many relationship is the JSON text of an array.
    ///
    /// If the calling task is cancelled, the export ends before its next batch, and no file is created or replaced.
    /// - Parameters:
    ///   - source: which objects, in which order.
    ///   - options: which fields, and under which names.
    /// - Throws: `misuse` for a field that cannot be exported, `io` where the destination cannot be written, `cancelled`, and what reading throws.
    @discardableResult
    public func export<S: FetchSource>(
        _ source: S, to destination: ExportDestination, options: ExportOptions<S.Entity> = ExportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> ExportReport {
        let run = startExport(source, to: destination, options: options, file: file, line: line)
        return try await withTaskCancellationHandler {
            try await run.value
        } onCancel: {
            run.cancel()
        }
    }

    /// Starts an export, and returns its handle; see ``export(_:to:options:file:line:)``.
    public func startExport<S: FetchSource>(
        _ source: S, to destination: ExportDestination, options: ExportOptions<S.Entity> = ExportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) -> ExportRun {
        ExportWork(self, source.chain, destination, options, CallSite("export", file: file, line: line)).start()
    }

    /// Exports on the caller's thread; see ``export(_:to:options:file:line:)``.
    @discardableResult
    public func exportAndWait<S: FetchSource>(
        _ source: S, to destination: ExportDestination, options: ExportOptions<S.Entity> = ExportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> ExportReport {
        try ExportWork(self, source.chain, destination, options, CallSite("export", file: file, line: line)).run().get()
    }
}
