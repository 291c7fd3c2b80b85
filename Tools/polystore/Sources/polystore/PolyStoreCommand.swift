import ArgumentParser
import PolyStoreCore

/// The tool.
@main
struct PolyStoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "polystore", abstract: "Reads, changes, converts and verifies stores.", subcommands: [])
}
