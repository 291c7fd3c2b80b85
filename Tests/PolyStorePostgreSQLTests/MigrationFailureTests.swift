import PolyStoreBackend
import PolyStoreCore
import PolyStoreQuery
import PostgreSQLServer
import TestModels
import Testing

@testable import PolyStorePostgreSQL

/// Migrations whose connection, session or server ends at a statement. The thorough ring does that at every statement; the commit ring at the commit.
@Suite(.withServer) struct MigrationFailureTests {
    /// What ends at a statement.
    enum Failure: CaseIterable {
        /// The connection, before the server receives the statement.
        case connection
        /// The process of the server, because an administrator ends the session.
        case session
        /// The server, as by a crash.
        case serverKilled
        /// The server, by `pg_ctl stop -m immediate`.
        case serverStopped

        var endsServer: Bool { self == .serverKilled || self == .serverStopped }
    }

    private static let people = 5

    /// Edits that copy tables, rewrite objects, and change links and names.
    private static func target() throws -> SchemaDescription {
        let edits = ["attribute renamed", "entity renamed", "unique constraint removed", "attribute added, with a default"]
        var target = try RolloutChange.company.description(ofConfiguration: nil)
        for change in RolloutChange.all where edits.contains(change.description) { change.edit(&target) }
        for index in target.entities.indices where target.entities[index].name == "Person" {
            target.entities[index].properties = target.entities[index].properties.map { property in
                guard case .attribute(var attribute) = property, attribute.name == "age" else { return property }
                (attribute.type, attribute.defaultValue) = (.string, nil)
                return .attribute(attribute)
            }
        }
        target.name = "Company 2"
        return target
    }

    /// A store of the former model on a server whose statements a test counts.
    private struct Subject {
        let server: PostgreSQLServer
        let proxy: ProtocolProxy
        let options: PostgreSQLOptions
        let former: Store
        var early: (any ReadTransaction)?

        init(_ server: PostgreSQLServer, _ proxy: ProtocolProxy, hasReader: Bool) throws {
            (self.server, self.proxy) = (server, proxy)
            var options = TestServer.options()
            if hasReader { options.renamingTime = .milliseconds(10) }
            self.options = options
            let stack = try DataStack(RolloutChange.company)
            try stack.addStore(.postgreSQL(server.url(), options: options))
            try stack.performAndWait { transaction in
                let department = try transaction.create(Into<Department>())
                for number in 1...MigrationFailureTests.people {
                    let person = try transaction.create(Into<Person>())
                    (person.email, person.age, person.nickname, person.department) = ("\(number)", number, "n\(number)", department)
                    let project = try transaction.create(Into<Project>())
                    (project.name, project.owner) = ("p\(number)", department)
                    department.tags.insert(project)
                }
            }
            try stack.closeAndWait()
            former = try Store(
                server.url(), options: options, schema: ResolvedSchema(RolloutChange.company.description(ofConfiguration: nil)))
            early = hasReader ? try former.backend.beginRead() : nil
            _ = try early?.version
        }

        /// Migrates the store through the proxy.
        func migrate() throws {
            let url = proxy.url(options: "application_name=\(options.schema)")
            try migrateStore(url, options, from: RolloutChange.company, to: MigrationFailureTests.target())
        }

        /// The tables and indexes of a schema.
        static func relations(_ server: PostgreSQLServer, _ options: PostgreSQLOptions) throws -> String {
            try server.psql(
                "SELECT string_agg(relname, ' ' ORDER BY relname COLLATE \"C\") FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
                    + "WHERE nspname = '\(options.schema)'")
        }

        /// Lets the migration fail at a statement.
        func fail(_ failure: Failure, at number: Int) {
            let left = Protected(number)
            proxy.setRule { [server, options] _ in
                let isDue = left.withLock { left in
                    left -= 1
                    return left == -1
                }
                guard isDue else { return .forward }
                switch failure {
                case .connection: return .drop
                case .session:
                    _ = try? server.psql(
                        "SELECT pg_terminate_backend(pid, 600000) FROM pg_stat_activity WHERE application_name = '\(options.schema)'")
                case .serverKilled: server.kill()
                case .serverStopped: server.stop()
                }
                return .forward
            }
        }

        /// Checks that the store is the former or the migrated one, and completes the migration.
        /// - Parameter expected: The tables and indexes of a store of the new model.
        func check(_ expected: String) throws {
            early?.end()
            let target = try ResolvedSchema(MigrationFailureTests.target())
            do {
                let found = try Store(server.url(), options: options, schema: former.schema)
                #expect(try found.backend.verify().isEmpty)
                #expect(try found.ids(FetchRequest(found.entity("Person"))).count == MigrationFailureTests.people)
                try found.backend.close()
                try migrate()
            } catch let error as StoreError where error.code == .migrationRequired {
                // It has been migrated.
            }
            var store = try Store(server.url(), options: options, schema: target)
            // The end of the snapshot is not waited for.
            while try server.psql("SELECT \"isStaged\" FROM \(options.schema).polystore_metadata") != "f" {
                try store.backend.close()
                store = try Store(server.url(), options: options, schema: target)
            }
            let person = try store.entity("Person")
            let (alias, age) = (try #require(person.field(named: "alias")), try #require(person.field(named: "age")))
            let rows = try store.read { transaction in
                try transaction.ids(FetchRequest(person)).compactMap { id in
                    try transaction.record(person, rowID: id).map { ($0.value(alias), $0.value(age)) }
                }
            }
            #expect(rows.map(\.0) == (1...MigrationFailureTests.people).map { .text("n\($0)") })
            #expect(rows.map(\.1) == (1...MigrationFailureTests.people).map { .text("\($0)") })
            #expect(try store.ids(FetchRequest(store.entity("Task"))).count == MigrationFailureTests.people)
            #expect(try store.backend.verify().isEmpty)
            #expect(try Self.relations(server, options) == expected)
            try store.backend.close()
            try former.backend.close()
            try server.psql("DROP SCHEMA \(options.schema) CASCADE")
        }
    }

    @Test(arguments: Failure.allCases, [false, true])
    func storeIsTheFormerOrTheMigratedOne(_ failure: Failure, _ hasReader: Bool) throws {
        // In the commit ring a crash is the failure of the commit that leaves the tables with other names.
        let quick = failure == .session && !hasReader || failure == .serverKilled && hasReader
        guard TestServer.isThorough || quick else { return }
        let server = try failure.endsServer ? PostgreSQLServer() : TestServer.get()
        let proxy = try ProtocolProxy(server)
        defer { proxy.stop() }
        // The tables of a store that was created for the new model.
        let options = TestServer.options()
        try Store(server.url(), options: options, schema: ResolvedSchema(Self.target())).backend.close()
        let expected = try Subject.relations(server, options)
        // The statements of a migration that succeeds.
        let statements = Protected<[String]>([])
        let first = try Subject(server, proxy, hasReader: hasReader)
        proxy.setRule { sql in
            statements.withLock { $0.append(sql) }
            return .forward
        }
        try first.migrate()
        proxy.reset()
        try first.check(expected)
        let texts = statements.withLock { $0 }
        let commit = try #require(texts.lastIndex(of: "COMMIT"))
        #expect(commit > 30)
        var isMigrated = 0
        for number in TestServer.isThorough ? Array(0...commit) : [commit] {
            let subject = try Subject(server, proxy, hasReader: hasReader)
            subject.fail(failure, at: number)
            if (try? subject.migrate()) != nil { isMigrated += 1 }
            if failure.endsServer { try server.restart() }
            proxy.reset()
            try subject.check(expected)
        }
        print(
            "\(failure), \(hasReader ? "with" : "without") a snapshot: \(texts.count) statements, \(isMigrated) migrations succeeded nevertheless"
        )
        // A connection that ends before its first transaction is replaced, and what follows the commit changes nothing.
        if TestServer.isThorough { #expect(isMigrated < commit / 2) }
    }
}
