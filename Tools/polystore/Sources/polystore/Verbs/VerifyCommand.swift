import ArgumentParser
import PolyStoreCore
import PolyStoreFormats

import struct PolyStoreBackend.StoreError

/// Checks the integrity of a store.
struct VerifyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Reads the whole store, and lists what is damaged.",
        discussion:
            "The exit code is 1 if something is damaged. The store can be in use. Restore a damaged store from a backup; `polystore reindex` builds damaged indexes again."
    )

    @OptionGroup var source: StoreArgument
    @Flag(help: "Print the problems as an array of JSON.")
    var json = false

    func run() async throws {
        let problems = try await problems()
        if json {
            try StandardOutput.shared.write("\(JSONValue(problems.map { JSONValue($0) }))\n")
        } else {
            for problem in problems { try StandardOutput.shared.write(DisplayText.lines(problem) + "\n") }
            if problems.isEmpty { try StandardOutput.shared.write("No damage was found.\n") }
        }
        guard !problems.isEmpty else { return }
        let name = try StoreLocation(existing: source.store).name
        throw ToolError(
            .nothingFound, "\(name) is damaged: \(problems.count) \(problems.count == 1 ? "problem was" : "problems were") found.")
    }

    /// A store that is too damaged to be opened has one problem.
    private func problems() async throws -> [String] {
        do {
            let opened = try source.open()
            defer { withExtendedLifetime(opened) {} }
            return try await opened.store.startVerification().following()
        } catch let error as ToolError where error.isDamage {
            return [error.message]
        } catch let error as StoreError where error.code == .corrupt {
            return [ToolError(error).message]
        }
    }
}
