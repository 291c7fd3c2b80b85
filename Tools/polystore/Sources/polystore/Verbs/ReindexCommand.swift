import ArgumentParser
import PolyStoreCore

import struct PolyStoreBackend.StoreError

/// Builds indexes again from the objects.
struct ReindexCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reindex", abstract: "Builds indexes again from the objects.",
        discussion: """
            For indexes that `polystore verify` lists as damaged. The store can be in use meanwhile; searches then read the texts. If the command is interrupted, the next \
            opening for writing continues.

            EXAMPLES
              polystore reindex atlas.db
              polystore reindex atlas.db Airport_name_municipality_text
            """)

    @OptionGroup var source: StoreArgument
    @Argument(help: ArgumentHelp("The indexes as verify and explain name them; the default is all.", valueName: "index"))
    var names: [String] = []

    func run() async throws {
        let opened = try source.open(forWriting: true)
        do {
            try await opened.store.rebuildIndexes(names.isEmpty ? nil : Set(names))
        } catch let error as StoreError where error.code == .notFound {
            throw ToolError(.usage, error.message)
        }
        try StandardOutput.shared.write(
            names.isEmpty ? "All indexes were built again.\n" : "Built again: \(names.joined(separator: ", ")).\n")
    }
}
