import ArgumentParser
import BrowserData
import PolyStoreCore
import StoreBrowser

import struct PolyStoreBackend.StandardErrorLogger

/// A page of the store for a web browser.
struct BrowseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browse", abstract: "Shows the store in a web browser: entities, rows, objects, groups and history.",
        discussion: """
            Prints an address of this machine, and answers until Ctrl-C. The address contains a random token, without which nothing is answered. Only programs of \
            this machine can connect unless --host names another interface. The store can be changed with --write only; each change is shown before it is committed.

            EXAMPLES
              polystore browse atlas.db
              polystore browse atlas.db --port 8080 --write
            """)

    @OptionGroup var source: StoreArgument
    @Option(help: ArgumentHelp("The port to listen on; by default one that is free.", valueName: "number"))
    var port = 0
    @Option(help: ArgumentHelp("The name or the address of the interface to listen on.", valueName: "name"))
    var host = "127.0.0.1"
    @Option(help: ArgumentHelp("The greatest time of a query, in seconds.", valueName: "seconds"))
    var timeout = 30
    @Flag(help: "Permit changes of the store.")
    var write = false

    func validate() throws {
        if !(0...65_535).contains(port) { throw ValidationError("--port is a number from 0 to 65535, not \(port).") }
        if timeout < 1 { throw ValidationError("--timeout is a number of seconds, not \(timeout).") }
        if host.isEmpty { throw ValidationError("--host is the name or the address of an interface, such as 127.0.0.1.") }
    }

    func run() async throws {
        let location = try StoreLocation(existing: source.store)
        let store = try await open(location)
        var options = BrowserOptions()
        (options.host, options.port, options.deadline) = (host, port, .seconds(timeout))
        let served = await serve(store, options)
        // After Ctrl-C this task is cancelled, and the store is closed nevertheless.
        let closed = await Task { try await store.close() }.result
        if case .failure(let error as BrowserServer.ListeningError) = served { throw ToolError(.failure, error.message) }
        try served.get()
        try closed.get()
    }

    /// Answers until the task is cancelled.
    private func serve(_ store: BrowserStore, _ options: BrowserOptions) async -> Result<Void, any Error> {
        do {
            try await BrowserServer(store, options: options).run { address in
                try? StandardOutput.shared.write("\(address)\n")
                try? StandardOutput.shared.flush()
                StandardStreams.report("Open this address in a web browser. Press Ctrl-C to end.")
            }
            return .success(())
        } catch { return .failure(error) }
    }

    private func open(_ location: StoreLocation) async throws -> BrowserStore {
        do {
            guard try location.configuration.exists() else { throw ToolError(.cannotOpen, "There is no store at \(location.name).") }
            return try await BrowserStore.open(
                location.configuration, name: location.name, forWriting: write, timeLimit: .seconds(timeout),
                logger: StandardErrorLogger(minimum: source.verbose ? .info : .error))
        } catch { throw ToolError(error, isOpening: true) }
    }
}
