import ConversionTestSupport
import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStorePostgreSQL
import PostgreSQLServer
import TestSupport
import Testing

/// Conversions to a server that loses responses, and through a pooler, which keeps no lock.
@Suite(.enabled(if: Place.postgreSQL.isAvailable)) struct ConversionServerTests {
    private let server: PostgreSQLServer
    private let folder: Folder

    init() throws { (server, folder) = (try PostgreSQLServer.shared.get(), try Folder()) }

    /// Returns the configurations of one new store with and without a pooler in transaction mode.
    private func stores() throws -> (plain: StoreConfiguration, pooled: StoreConfiguration) {
        let url = try Place.postgreSQL.url(in: folder, "")
        return (try .postgreSQL(url), try .postgreSQL(url + "&pooler=transaction"))
    }

    private func digest(_ store: StoreConfiguration) throws -> StoreDigest { try StoreDigest(of: store, logger: RecordingLogger()) }

    @Test(arguments: [0, 30], [false, true]) func commitsWhoseResponsesAreLostAreAskedFor(_ people: Int, _ isEmpty: Bool) throws {
        let source = try Place.sqlite.store(in: folder, "source")
        if isEmpty { try SampleStore.open(source).close() } else { _ = try Place.fill(source, people: people) }
        let proxy = try ProtocolProxy(server)
        defer { proxy.stop() }
        // The responses to the first commit of the conversion and to the last one.
        let losing = Protected(Set<String>())
        proxy.setRule { sql in
            if sql.contains("polystore_metadata") && sql.contains("SET configuration") { losing.withLock { _ = $0.insert("last") } }
            return .forward
        }
        let lost = Protected(0)
        proxy.setResponseRule { tag in
            guard tag == "COMMIT", losing.withLock({ $0.remove("last") }) != nil else { return .forward }
            lost.withLock { $0 += 1 }
            return .drop
        }
        let url = try Place.postgreSQL.url(in: folder, "")
        let options = try #require(url.split(separator: "?").last)
        let target = try StoreConfiguration.postgreSQL(proxy.url(options: String(options)))
        let report = try conversion(source, target).runAndWait()
        #expect(lost.withLock { $0 } == 1)
        proxy.reset()
        #expect(try report.target == digest(source))
        #expect(try digest(.postgreSQL(url)) == report.target)
    }

    @Test func completeTargetIsNamedAsSuch() throws {
        let (source, target) = (try Place.sqlite.filled(in: folder, people: 3), try stores().plain)
        _ = try conversion(source, target).runAndWait()
        let error = try requireFailure { _ = try conversion(source, target).runAndWait() }
        #expect(error.code == .io)
        #expect(error.message.contains("exists already"))
        #expect(error.message.contains("a conversion has completed it"))
    }

    /// Another conversion completes the target after any report of the progress of the first one.
    @Test func completedTargetIsNotWrittenByAnotherConversion() throws {
        let source = try Place.sqlite.filled(in: folder, people: 30)
        let expected = try digest(source)
        for at in stride(from: 1, to: 1000, by: 4) {
            let pooled = try stores().pooled
            var count = 0
            let error = failure {
                _ = try conversion(source, pooled).runAndWait { _ in
                    count += 1
                    if count == at { _ = try conversion(source, pooled).runAndWait() }
                }
            }
            #expect(try digest(pooled) == expected)
            if count < at {
                #expect(error == nil)
                #expect(at > 10)
                return
            }
            #expect(error?.code == .busy, "\(at): \(String(describing: error))")
        }
    }

    @Test func completedTargetIsNotDeletedByAConversionThatStartsOver() throws {
        let source = try Place.sqlite.filled(in: folder, people: 5)
        let expected = try digest(source)
        let url = try Place.postgreSQL.url(in: folder, "")
        let plain = try StoreConfiguration.postgreSQL(url)
        try ConversionRefusalTests.interrupt(source, plain)
        let proxy = try ProtocolProxy(server)
        defer { proxy.stop() }
        let failures = Protected<[String]>([])
        let isOver = Protected(false)
        // The first conversion ends when the second one is about to delete its target.
        proxy.setRule { sql in
            guard sql.contains("ACCESS EXCLUSIVE"),
                isOver.withLock({ isOver in
                    defer { isOver = true }
                    return !isOver
                })
            else { return .forward }
            do { _ = try conversion(source, plain).runAndWait() } catch { failures.withLock { $0.append("\(error)") } }
            return .forward
        }
        let options = try #require(url.split(separator: "?").last)
        var over = try conversion(source, .postgreSQL(proxy.url(options: options + "&pooler=transaction")))
        over.startsOver = true
        let error = try requireFailure { _ = try over.runAndWait() }
        #expect(error.code == .io)
        #expect(error.message.contains("has completed"))
        #expect(isOver.withLock { $0 })
        #expect(failures.withLock { $0 } == [])
        #expect(try digest(plain) == expected)
    }

    @Test func lockOutlivesTheLimitOfIdleSessions() throws {
        let role = "idle_\(getpid())"
        try server.psql("CREATE ROLE \(role) SUPERUSER LOGIN; ALTER ROLE \(role) SET idle_session_timeout = '200ms'")
        let url = server.url(user: role, options: "schema=idle_\(getpid())")
        let locking = try #require(StoreConfiguration.postgreSQL(url).remote as? any ConversionLocking)
        let lock = try #require(try locking.lockConversion())
        // Until the session has been idle for ten times the limit, or the server has ended it.
        let idle = "SELECT now() - state_change > '2 s' FROM pg_stat_activity WHERE usename = '\(role)'"
        while try server.psql(idle) == "f" { Thread.sleep(forTimeInterval: 0.1) }
        expectError(.busy) { try locking.lockConversion() }
        withExtendedLifetime(lock) {}
    }
}
