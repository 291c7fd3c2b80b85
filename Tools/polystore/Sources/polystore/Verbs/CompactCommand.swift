import ArgumentParser
import PolyStoreCore

import struct PolyStoreBackend.StoreError

/// Returns the space of deleted objects to the file system.
struct CompactCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compact", abstract: "Returns the space of deleted objects to the file system.",
        discussion:
            "Writers wait meanwhile. A store of LMDB that another process has open is refused. Ctrl-C ends the command when the store is compacted."
    )

    @OptionGroup var source: StoreArgument

    func run() async throws {
        let opened = try source.open(forWriting: true)
        let before = try await opened.store.statistics().fileSize
        try await opened.store.compact()
        let after = try await opened.store.statistics().fileSize
        guard before > 0 else { return try StandardOutput.shared.write("Compacted.\n") }
        try StandardOutput.shared.write("\(before.grouped) bytes before, \(after.grouped) bytes after.\n")
    }
}
