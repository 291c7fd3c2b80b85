import BrowserData
import Foundation
import PolyStoreBackend
import StoreBrowser
import Testing

/// A browser of a store that answers during a test.
final class RunningBrowser: Sendable {
    let port: Int
    let token: String
    let store: BrowserStore
    private let task: Task<Void, any Error>

    /// Opens a store and starts its server.
    init(_ url: String, forWriting isWritable: Bool = false, change: (inout BrowserOptions) -> Void = { _ in }) async throws {
        var options = BrowserOptions()
        // Tests of other suites can occupy the threads of tasks meanwhile.
        options.deadline = .seconds(600)
        change(&options)
        let store = try await BrowserStore.open(
            TestStore.engines.configuration(url), forWriting: isWritable, timeLimit: options.deadline, logger: SilentLogger())
        let server = try BrowserServer(store, options: options)
        let (addresses, continuation) = AsyncStream<String>.makeStream()
        task = Task {
            defer { continuation.finish() }
            try await server.run { continuation.yield($0) }
        }
        var iterator = addresses.makeAsyncIterator()
        let address = try #require(await iterator.next(), "The server did not start.")
        let match = try #require(address.firstMatch(of: /:(\d+)\/\?token=([0-9a-f]+)$/))
        (port, token) = (try #require(Int(match.1)), String(match.2))
        self.store = store
    }

    /// Ends the server, and closes the store.
    func stop() async throws {
        task.cancel()
        _ = await task.result
        try await store.close()
    }

    /// The name and value of the cookie that the server knows.
    var cookie: String { "polystore-\(port)=\(token)" }

    /// Sends a request of a browser that has the cookie, and waits for the answer.
    /// - Parameter headers: Further fields; one with an empty value is left out, also of those that a browser sends.
    func request(_ method: String = "GET", _ target: String, _ headers: [String: String] = [:], body: String = "") async throws
        -> HTTPConnection.Answer
    {
        var fields = ["Host": "127.0.0.1:\(port)", "Cookie": cookie, "Connection": "close"]
        if method == "POST" {
            fields["Content-Type"] = "application/x-www-form-urlencoded"
            fields["Origin"] = "http://127.0.0.1:\(port)"
            fields["Content-Length"] = "\(body.utf8.count)"
        }
        fields.merge(headers) { $1 }
        let lines = fields.filter { !$0.value.isEmpty }.map { "\($0.key): \($0.value)\r\n" }.sorted().joined()
        let text = "\(method) \(target) HTTP/1.1\r\n\(lines)\r\n\(body)"
        let port = port
        return try await Self.onThread {
            let connection = try HTTPConnection(port: port)
            try connection.send(text)
            return try connection.answer()
        }
    }

    /// Returns the text of a page, which must be answered.
    func page(_ target: String) async throws -> String {
        let answer = try await request("GET", target)
        #expect(answer.status == 200, "\(target): \(answer.text)")
        return answer.text
    }

    /// Runs work that blocks on a thread of its own, because the server needs the threads of tasks.
    static func onThread<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: body)) }
        }
    }
}
