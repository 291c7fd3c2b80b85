import BrowserData
import Foundation
import Hummingbird
import Logging
import NIOCore

/// The server of the pages of one store.
package struct BrowserServer: Sendable {
    /// The address or the port cannot be used.
    package struct ListeningError: Error, Sendable {
        package let message: String
    }

    private let site: Site
    private let options: BrowserOptions

    /// - Throws: An error if a template is invalid.
    package init(_ store: BrowserStore, options: BrowserOptions) throws {
        self.options = options
        site = Site(store: store, options: options, templates: try Templates())
    }

    /// Answers requests until the task is cancelled.
    /// - Parameter started: Receives the address to open, which contains the token, when the server listens.
    /// - Throws: `ListeningError` if the address or the port cannot be used, and `CancellationError` if the task is cancelled.
    package func run(started: @escaping @Sendable (String) async -> Void) async throws {
        let (host, token, listening) = (options.host, options.token, site.listening)
        let application = Application(
            responder: BrowserResponder(site: site), server: .http1(configuration: .init(idleTimeout: .minutes(2))),
            configuration: .init(address: .hostname(host, port: options.port), reuseAddress: true),
            onServerRunning: { channel in
                listening.set(channel.localAddress)
                let address = HostPolicy.address(host: listening.isEverywhere ? "127.0.0.1" : host, port: channel.localAddress?.port ?? 0)
                await started("\(address)/?token=\(token)")
            }, logger: Logger(label: "polystore.browse") { _ in SwiftLogNoOpLogHandler() })
        do {
            try await application.run()
        } catch {
            try Task.checkCancellation()
            let reason = (error as? IOError).map { String(cString: strerror($0.errnoCode)) } ?? "\(error)"
            throw ListeningError(
                message:
                    "Cannot listen on \(host):\(options.port): \(reason). Choose another --port, or an address of this machine as --host.")
        }
        try Task.checkCancellation()
    }
}
