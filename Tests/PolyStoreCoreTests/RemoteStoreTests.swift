import PolyStoreBackend
import PolyStoreCore
import PolyStoreMemory
import PolyStoreRuns
import TestModels
import TestSupport
import Testing

/// Stores that are not files: their URLs, identity, existence and erasure, and announced commits.
// One after another, because the stores have equal locations, and a process knows the locations of its open stores.
@Suite(.serialized) struct RemoteStoreTests {
    /// A store that answers what the file system is asked otherwise.
    private struct Remote: RemoteStore {
        let name: String
        let databases: Protected<Set<String>>

        func identity() throws -> String {
            guard !name.contains("//unnamed") else { throw StoreError(.io, "The server cannot be reached.") }
            // The server has two names.
            return name.split(separator: "alias").joined(separator: "db")
        }
        func exists() throws -> Bool {
            let identity = try identity()
            return databases.withLock { $0.contains(identity) }
        }
        func erase() throws {
            let identity = try identity()
            databases.withLock { _ = $0.remove(identity) }
        }
    }

    private let databases = Protected<Set<String>>([])
    private let logger = RecordingLogger(.trace)
    private let password = "hunter2"

    /// A backend that is careless with passwords.
    private var engines: StoreEngines {
        StoreEngines([
            StoreEngine(name: "pg", options: ["connect", "sslpassword"], acceptsServers: true) { [databases] url in
                let remote = Remote(name: url.serverLocation(defaultPort: 5432), databases: databases)
                return StoreConfiguration(engine: "pg", location: remote.name, remote: remote) { request in
                    let password = url.server?.password?.value ?? ""
                    request.logger.write(.warning, "Connecting to \(url.text)")
                    request.logger.log(
                        .warning, "Connecting", metadata: [.store: .text(url.text), .transactions: .count(1)], file: #fileID, line: #line,
                        function: #function)
                    request.logger.log(StoreError(.io, "No \(password)"), url.text, file: #fileID, line: #line, function: #function)
                    if let code = url.options["connect"] {
                        throw StoreError(
                            StoreError.Code(code), "Cannot connect with \(password).", location: url.text, underlying: "\(url.options)")
                    }
                    let identity = try remote.identity()
                    databases.withLock { _ = $0.insert(identity) }
                    return try StoreConfiguration.inMemory().open(
                        schema: request.schema, configurationName: request.configurationName, logger: request.logger)
                }
            }
        ])
    }

    private func stack() throws -> DataStack {
        let stack = try DataStack(companySchema, logger: logger)
        stack.snapshotWarningAge = .seconds(100_000)
        return stack
    }

    @Test func twoSpellingsAreOneStore() throws {
        let stack = try stack()
        let store = try stack.addStore(url: "pg://jane:hunter2@db.example.com/company", engines: engines)
        #expect(store.location == "pg://db.example.com:5432/company")
        #expect(store.url == store.location)
        for same in [
            "pg://DB.example.com:5432/company", "pg://other@db.example.com/company?sslpassword=x", "pg://alias.example.com/company",
        ] {
            #expect(try stack.addStore(url: same, engines: engines) === store, "\(same)")
        }
        let other = try stack.addStore(url: "pg://db.example.com/other", engines: engines, configuration: nil)
        #expect(other !== store)
        #expect(stack.stores.count == 2)
    }

    @Test func theLocationIdentifiesAStoreWithoutIdentity() throws {
        let databases = databases
        let configuration = StoreConfiguration(
            engine: "pg", location: "pg://unnamed:1/x", remote: Remote(name: "pg://unnamed:1/x", databases: databases)
        ) { request in
            try StoreConfiguration.inMemory().open(
                schema: request.schema, configurationName: request.configurationName, logger: request.logger)
        }
        let stack = try stack()
        let store = try stack.addStore(configuration)
        #expect(try stack.addStore(configuration) === store)
        expectError(.io) { try configuration.exists() }
    }

    @Test func theBackendIsAskedForExistenceAndErases() throws {
        let configuration = try engines.configuration("pg://jane:hunter2@db/company")
        #expect(try !configuration.exists())
        let stack = try stack()
        let store = try stack.addStore(configuration.creatingFolder())
        #expect(try configuration.exists())
        #expect(try engines.configuration("pg://alias/company").exists())
        try stack.eraseStoreAndWait(store)
        #expect(try !configuration.exists())
        #expect(stack.stores.isEmpty)
    }

    /// A store that another stack has open is not erased, also under another name.
    @Test func aStoreOfAnotherStackIsNotErased() throws {
        let (stack, other) = (try stack(), try stack())
        let store = try stack.addStore(url: "pg://db/company", engines: engines)
        let same = try other.addStore(url: "pg://alias/company", engines: engines)
        expectError(.busy) { try stack.eraseStoreAndWait(store) }
        try other.removeStoreAndWait(same)
        try stack.eraseStoreAndWait(store)
    }

    @Test func aFailureIsCuredByAReset() throws {
        let databases = databases
        databases.withLock { $0 = ["pg://db:5432/company"] }
        let remote = Remote(name: "pg://db:5432/company", databases: databases)
        let configuration = StoreConfiguration(engine: "pg", location: remote.name, remote: remote) { request in
            guard try !remote.exists() else { throw StoreError(.corrupt, "The test simulates damage.") }
            return try StoreConfiguration.inMemory().open(
                schema: request.schema, configurationName: request.configurationName, logger: request.logger)
        }
        expectError(.corrupt) { try stack().addStore(configuration) }
        try stack().addStore(configuration.resettingOnFailure())
        #expect(databases.withLock { $0.isEmpty })
    }

    @Test func filesExistAsTheFileSystemSays() throws {
        let folder = try Folder()
        let configuration = Backend.sqlite.store(in: folder)
        #expect(try !configuration.exists())
        try stack().addStore(configuration)
        #expect(try configuration.exists())
        #expect(try !StoreConfiguration.inMemory().exists())
    }

    /// Every place that prints a store or an error of opening it.
    @Test(arguments: ["", "?connect=io", "?connect=corrupt", "?connect=busy&sslpassword=hunter2hunter2", "?connect=misuse&sslpassword=x2x"])
    func noPasswordIsPrinted(_ options: String) throws {
        let text = "pg://jane:\(password)@db/company" + options
        var printed: [String] = []
        func print(_ value: Any) {
            printed += ["\(value)", String(reflecting: value)]
            var dumped = ""
            dump(value, to: &dumped, maxDepth: 5)
            printed.append(dumped)
        }
        let configuration = try engines.configuration(text)
        print(configuration)
        print(configuration.location)
        print(configuration.url)
        let stack = try stack()
        do {
            let store = try stack.addStore(url: text, engines: engines)
            print(store)
            print(store.location)
            print(store.url)
            print(store.configuration)
            try stack.performAndWait { _ = try $0.createPerson(1) }
            print(try stack.readAndWait { try $0.fetchAll(From<Person>()).map { "\($0.objectID) \($0.objectID.uri)" } })
            print(failure { try store.backUpAndWait(to: "/dev/null/x") } as Any)
            try stack.removeStoreAndWait(store)
            print(failure { try stack.removeStoreAndWait(store) } as Any)
        } catch let error as StoreError {
            print(error)
            print(error.localizedDescription)
            print(error.errorUserInfo)
            #expect("\(error)".contains("***"))
        }
        print(stack)
        printed += logger.entries.flatMap { [$0.message, "\($0.metadata)"] }
        #expect(logger.messages.contains { $0.contains("Connecting to") && $0.contains("***") })
        for text in printed { #expect(!text.contains("hunter") && !text.contains("x2x"), "\(text)") }
    }

    // MARK: Announced commits

    @Test func anAnnouncementLeadsToACheck() async throws {
        let (checks, handlers) = (Protected(0), Protected<[@Sendable () -> Void]>([]))
        let watcher = CommitWatcher(interval: 100_000) {
            []
        } announcements: { handler in
            handlers.withLock { $0.append(handler) }
            return []
        } look: {
            checks.withLock { $0 += 1 }
        }
        watcher.start()
        // The checks after the start, which find the commits before it.
        while checks.withLock({ $0 }) < 12 { try await Task.sleep(for: .milliseconds(1)) }
        for announcement in 1...3 {
            handlers.withLock { $0 }.first?()
            while checks.withLock({ $0 }) < 12 + announcement { try await Task.sleep(for: .milliseconds(1)) }
        }
        watcher.stop()
    }

    @Test func aBackendAnnouncesCommitsWhileTheyAreObserved() async throws {
        let server = SimulatedServer(announcesCommits: true)
        let stack = try stack()
        try stack.addStore(.simulatedServer(server))
        #expect(server.listenerCount == 0)
        do {
            let observation = stack.observeCommits { _ in }
            while server.listenerCount == 0 { try await Task.sleep(for: .milliseconds(1)) }
            withExtendedLifetime(observation) {}
        }
        // The watcher stops at the next check after the last observation.
        while server.listenerCount > 0 {
            server.announceCommit()
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}
