import ArgumentParser
import PolyStoreCore

import enum PolyStoreBackend.LogLevel
import struct PolyStoreBackend.StandardErrorLogger
import struct PolyStoreBackend.StoreError

/// Copies a store to another engine.
struct ConvertCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Copies a whole store to a new store of any engine.",
        discussion: """
            The target has the same schema, objects with the same ids, relationships in the same order, history and named values. Before it becomes a store, it is \
            read again and compared with the source. The source can be in use; LevelDB permits one process only.

            Ctrl-C leaves an incomplete target, which no program takes for a store. The same command continues it if the source is unchanged; --start-over writes it \
            from the beginning. A store or a file that exists is never overwritten.
            """)

    @Argument(help: "The store to read: a URL such as sqlite:company.sqlite, or a path.", completion: .file())
    var source: String
    @Argument(
        help: "The store to create: a URL such as lmdb:company.lmdb, or a path whose extension names the engine.", completion: .file())
    var target: String
    @Flag(help: "Delete the incomplete target of an earlier conversion, and write it from the beginning.")
    var startOver = false
    @Flag(help: "Write what the library reports to standard error.")
    var verbose = false

    func run() async throws {
        let (from, to) = (try StoreLocation(existing: source), try StoreLocation(new: target))
        var conversion = StoreConversion(from: from.configuration, to: to.configuration)
        conversion.startsOver = startOver
        conversion.logger = StandardErrorLogger(minimum: verbose ? .info : .error)
        let report: ConversionReport
        do {
            guard try from.configuration.exists() else { throw ToolError(.cannotOpen, "There is not a store at \(from.name).") }
            report = try await conversion.start().following()
        } catch let error as StoreError where error.code == .cancelled {
            throw ToolError(.interrupted, "Interrupted. \(to.name) is incomplete: run the command again to continue it, or delete it.")
        } catch let error as StoreError where Self.isOfOpening(error.code) { throw ToolError(error, isOpening: true) }
        try StandardOutput.shared.write(
            """
            Converted \(from.name) to \(to.name)\(report.isResumed ? ", continuing an interrupted conversion" : "").
            objects  \(report.objectCount.grouped)
            links    \(report.linkCount.grouped)
            history  \(report.target.history.count.grouped)
            values   \(report.target.namedValues.count.grouped)
            bytes    \(report.byteCount.grouped)
            digest   \(report.target)

            """)
    }

    /// Returns whether an error concerns a store that cannot be opened, rather than the conversion.
    private static func isOfOpening(_ code: StoreError.Code) -> Bool {
        [.busy, .notAStore, .incompatibleSchema, .differentStoreAtURL].contains(code)
    }
}
