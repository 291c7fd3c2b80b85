import ArgumentParser
import Foundation
import PolyStoreCore

/// Copies a store while it is in use.
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup", abstract: "Copies a store at its newest version, while it is in use.",
        discussion: """
            The copy has the same engine, and is a store like any other. It appears when it is complete: Ctrl-C leaves nothing of it. To copy to another engine, \
            use convert.
            """)

    @OptionGroup var source: StoreArgument
    @Argument(help: "The path of the copy, which must not exist; for a store on a server the URL of the copy.", completion: .file())
    var copy: String

    func run() async throws {
        let opened = try source.open()
        let (target, name) = try destination(opened)
        try await opened.store.startBackUp(to: target).following()
        try StandardOutput.shared.write("Copied \(opened.location.name) to \(name).\n")
    }

    /// Returns what the library is given, the path of a file or the URL of a copy on a server, and its name for messages.
    private func destination(_ opened: OpenStore) throws -> (target: String, name: String) {
        let engine = opened.location.configuration.engine
        let isServer = engine == "postgresql"
        guard isServer || copy.wholeMatch(of: /[a-z0-9]+:.*/.ignoresCase()) != nil else { return (copy, copy) }
        let target = try StoreLocation(new: copy)
        guard target.configuration.engine == engine else {
            throw ToolError(
                .usage,
                "A backup has the engine of its store, \(engine), not \(target.configuration.engine): use convert to copy to another engine."
            )
        }
        return (isServer ? target.url : target.configuration.location, target.name)
    }
}
