import ArgumentParser
import Foundation
import PolyStoreCore
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite

import struct PolyStoreBackend.StoreEngines
import struct PolyStoreBackend.StoreError

/// Runs the command of the arguments, and ends the process with its exit code.
@main
enum EntryPoint {
    static func main() async {
        StandardStreams.prepare()
        StoreEngines.register([.sqlite, .lmdb, .levelDB, .postgreSQL])
        let arguments = Array(CommandLine.arguments.dropFirst())
        let command = Task { try await run(arguments) }
        let signals = InterruptionSignals {
            command.cancel()
            InterruptibleInput.interrupt()
        }
        let result = await command.result
        switch result {
        case .success: Foundation.exit(finish(nil, arguments))
        case .failure(let error):
            let status = finish(error, arguments)
            Foundation.exit(status == ExitStatus.interrupted.rawValue ? signals.status ?? status : status)
        }
    }

    private static func run(_ arguments: [String]) async throws {
        try checkCommand(arguments)
        var command = try await PolyStoreCommand.asyncParseAsRoot(arguments)
        if var command = command as? any AsyncParsableCommand { return try await command.run() }
        try command.run()
    }

    /// - Throws: `usage` for a command that does not exist, with the one that was probably meant.
    private static func checkCommand(_ arguments: [String]) throws {
        let known = PolyStoreCommand.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
        guard let name = arguments.first, !name.hasPrefix("-"), !known.contains(name) else { return }
        if FileManager.default.fileExists(atPath: name) {
            throw ToolError(.usage, "\"\(name)\" is not a command. Write the command before the store: polystore info \(name).")
        }
        let hint =
            Spelling.nearest(name, among: known).map { "Did you mean \"\($0)\"?" } ?? "The commands are \(known.joined(separator: ", "))."
        throw ToolError(.usage, "There is no command \"\(name)\". \(hint)")
    }

    /// Writes the message of an error, and returns the exit code.
    private static func finish(_ error: (any Error)?, _ arguments: [String]) -> Int32 {
        do {
            guard let error else {
                try StandardOutput.shared.flush()
                return ExitStatus.success.rawValue
            }
            if let status = try usage(error, arguments) { return status }
            let described = ToolError(error)
            if described.status != .closedOutput { try StandardOutput.shared.flush() }
            StandardStreams.report(described.message)
            return described.status.rawValue
        } catch {
            let described = ToolError(error)
            StandardStreams.report(described.message)
            return described.status.rawValue
        }
    }

    /// Writes the help, or the message about invalid arguments; returns nil for the errors of commands.
    private static func usage(_ error: any Error, _ arguments: [String]) throws -> Int32? {
        if error is ToolError || error is StoreError { return nil }
        let code = PolyStoreCommand.exitCode(for: error)
        guard code == .success || code == .validationFailure else { return nil }
        let text = PolyStoreCommand.fullMessage(for: error)
        if code == .success {
            try StandardOutput.shared.write(text.hasSuffix("\n") ? text : text + "\n")
            try StandardOutput.shared.flush()
            return ExitStatus.success.rawValue
        }
        if text.contains("'<entity>'"), let entities = Completions.entities(of: arguments) {
            StandardStreams.report("Which entity? \(entities)")
            return ExitStatus.usage.rawValue
        }
        StandardStreams.report(text.hasPrefix("Error: ") ? String(text.dropFirst("Error: ".count)) : text)
        return ExitStatus.usage.rawValue
    }
}
