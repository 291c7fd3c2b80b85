import ArgumentParser
import Foundation
import PolyStoreCore
import PolyStoreTables

import struct PolyStoreBackend.StandardErrorLogger
import struct PolyStoreBackend.StoreConfiguration
import struct PolyStoreBackend.StoreError

/// Classes for a database that is not a store, and the import of its rows.
struct ModelCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "model", abstract: "Writes classes for any database of SQLite, and imports its rows into a store.",
        discussion: """
            Tables become entities, columns attributes, and foreign keys relationships. The source of the @Model classes goes to the output, or to the file of --output. What they do \
            not express, such as views, triggers and CHECK, is listed on standard error.

            --import-into creates a store with the schema and all rows: sqlite:company.sqlite, lmdb:company.lmdb, … The classes open it. The store must not exist, or must have the \
            schema and no objects. Ctrl-C leaves nothing of it. The database is only read, and other programs can write to it if it has a write-ahead log.
            """)

    @Argument(help: "The path of the database.", completion: .file())
    var file: String
    @Option(help: ArgumentHelp("The file for the source of the classes, which must not exist.", valueName: "path"), completion: .file())
    var output: String?
    @Option(help: ArgumentHelp("The store to create and to import all rows into.", valueName: "store"), completion: .file())
    var importInto: String?
    @Option(help: "The name of the schema; by default that of the file.")
    var name: String?
    @Option(help: "The access level of the classes: internal, package or public.")
    var access = SchemaCommand.Access.internal
    @Option(help: ArgumentHelp("The name of an enum around the classes.", valueName: "name"))
    var namespace: String?

    func run() async throws {
        let target = try importInto.map { try StoreLocation(new: $0) }
        if let output, FileManager.default.fileExists(atPath: output) {
            throw ToolError(.usage, "\"\(output)\" exists. Name another file with --output, or delete this one first.")
        }
        let (file, name) = (file, name)
        let tables = try await BlockingWork.run { _ in
            do { return try SQLiteTables(path: file, name: name) } catch let error as StoreError where error.code == .misuse {
                throw ToolError(
                    .usage, "\"\(file)\" is a store of PolyStore, which has its schema: use schema --format swift for its classes.")
            } catch { throw ToolError(error, isOpening: true) }
        }
        let options = ModelSource.Options(access: ModelSource.Access(rawValue: access.rawValue) ?? .internal, namespace: namespace)
        let source = try tables.modelSource(options)
        try write(source, tables, isImporting: target != nil)
        for limitation in tables.limitations.map(\.description) { StandardStreams.writeError("note: \(DisplayText.lines(limitation))\n") }
        if let target { try await importRows(tables, into: target) }
    }

    private func write(_ source: ModelSource, _ tables: SQLiteTables, isImporting: Bool) throws {
        guard let output else { return isImporting ? () : try StandardOutput.shared.write(source.text) }
        do { try source.text.write(toFile: output, atomically: true, encoding: .utf8) } catch {
            throw ToolError(.failure, "\"\(output)\" cannot be written: \(error.localizedDescription)")
        }
        try StandardOutput.shared.write("Wrote \(tables.schema.entities.count) classes to \(output).\n")
    }

    private func importRows(_ tables: SQLiteTables, into target: StoreLocation) async throws {
        let counts = try await BlockingWork.run { isCancelled in
            let isNew = try !target.configuration.exists()
            // A new store of a file appears when it is complete, also if the process is killed.
            let unfinished = isNew && target.configuration.engine != "postgresql" ? try target.unfinished() : nil
            let stack: DataStack
            do { stack = try tables.stack((unfinished ?? target).configuration, logger: StandardErrorLogger(minimum: .error)) } catch {
                throw ToolError(error, isOpening: true)
            }
            let result = Result {
                let counts = try Self.importRows(tables, into: stack, isCancelled)
                if unfinished != nil { for store in stack.stores { try store.backUpAndWait(to: target.configuration.location) } }
                return counts
            }
            var mustErase = unfinished != nil
            if case .failure = result, isNew { mustErase = true }
            // A store that others have opened meanwhile remains; the import has deleted its own objects.
            if mustErase { for store in stack.stores { try? stack.eraseStoreAndWait(store) } }
            try stack.closeAndWait()
            return try result.get()
        }
        for (table, count) in counts.rows.sorted(by: { $0.key < $1.key }) { try StandardOutput.shared.write("\(table)  \(count)\n") }
        try StandardOutput.shared.write("Imported \(counts.total.grouped) rows into \(target.name).\n")
    }

    private static func importRows(_ tables: SQLiteTables, into stack: DataStack, _ isCancelled: () -> Bool) throws
        -> SQLiteTables.RowCounts
    {
        let line = ProgressLine()
        defer { line.clear() }
        return try tables.importRows(into: stack) { counts in
            if isCancelled() { throw CancellationError() }
            line.show("Importing", completed: counts.total)
        }
    }
}

extension StoreLocation {
    /// Returns a place beside that of a new store, for the time until it is complete.
    fileprivate func unfinished() throws -> StoreLocation {
        let end = url.firstIndex(of: "?") ?? url.endIndex
        return try StoreLocation(new: "\(url[..<end]).unfinished-\(ProcessInfo.processInfo.processIdentifier)\(url[end...])")
    }
}

/// Work that blocks its thread, on a thread of its own.
private enum BlockingWork {
    private final class Flag: @unchecked Sendable {  // The lock guards the value.
        private let lock = NSLock()
        private var value = false
        var isSet: Bool { lock.withLock { value } }
        func set() { lock.withLock { value = true } }
    }

    /// Runs a closure, which is given a function that returns whether the task is cancelled.
    static func run<T: Sendable>(_ body: @escaping @Sendable (@Sendable () -> Bool) throws -> T) async throws -> T {
        let flag = Flag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread { continuation.resume(with: Result { try body { flag.isSet } }) }
            }
        } onCancel: {
            flag.set()
        }
    }
}
