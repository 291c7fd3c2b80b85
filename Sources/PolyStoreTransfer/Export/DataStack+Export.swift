public import Foundation
import PolyStoreBackend
public import PolyStoreFormats
import PolyStoreKernel
import PolyStoreRuns

extension DataStack {
    /// Returns objects as JSON, JSON Lines or CSV in memory; see ``export(_:to:options:file:line:)-(S,_,_,_,_)``.
    public func export<S: FetchSource>(
        _ source: S, format: RecordFormat, options: ExportOptions<S.Entity> = ExportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Data {
        // The export writes on one thread and has ended before the bytes are read.
        nonisolated(unsafe) let sink = MemoryByteSink()
        _ = try await export(
            source, to: ExportDestination(name: "memory", format: format) { sink }, options: options, file: file, line: line)
        return Data(sink.bytes)
    }

    /// Writes objects to a file or another destination, in JSON Lines, JSON or CSV.
    ///
    ///     try await stack.export(From<City>().where(\.population > 1_000_000).orderBy(.ascending(\.name)), to: .file(path: "cities.jsonl"))
    ///
    /// All objects are read from one snapshot, concurrently with writers and in batches: memory use does not grow with the number of objects, unless no index
    /// yields the requested order. Numbers are written exactly, dates in ISO 8601, data in base64, Codable values as JSON, and relationships as the unique ids
    /// of their targets, so that an import recreates equal objects. In CSV, a to-many relationship is the JSON text of an array.
    ///
    /// If the calling task is cancelled, the export ends before its next batch, and no file is created or replaced.
    /// - Parameters:
    ///   - source: The objects to export, and their order.
    ///   - destination: A file, standard output or another sink, and its format.
    ///   - options: The fields to export, and their names.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `misuse` for a field that cannot be exported, `io` if the destination cannot be written, `cancelled`, and errors of reading the store.
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

    /// Starts an export and returns a handle for it; see ``export(_:to:options:file:line:)-(S,_,_,_,_)``.
    public func startExport<S: FetchSource>(
        _ source: S, to destination: ExportDestination, options: ExportOptions<S.Entity> = ExportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) -> ExportRun {
        ExportWork(self, source.chain, destination, options, CallSite("export", file: file, line: line)).start()
    }

    /// Exports on the caller's thread; see ``export(_:to:options:file:line:)-(S,_,_,_,_)``.
    @discardableResult
    public func exportAndWait<S: FetchSource>(
        _ source: S, to destination: ExportDestination, options: ExportOptions<S.Entity> = ExportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) throws -> ExportReport {
        try ExportWork(self, source.chain, destination, options, CallSite("export", file: file, line: line)).execute().get()
    }
}
