package import PolyStoreBackend
package import PolyStoreConformance
internal import PolyStorePostgreSQL
package import PostgreSQLServer

/// The PostgreSQL backend as a target of the conformance suite, on a server of the tests. Each case has a schema of its own.
package enum PostgreSQLTarget {
    /// The features that the backend claims.
    package static let capabilities: Set<Capabilities.Feature> = [
        .persistence, .multiProcess, .readOnlyOpen, .fullDurability, .concurrentReaders, .transferableWriter, .namedValues, .changeLog,
        .verification, .migration, .copying, .compaction, .shortSnapshots, .requiredObjects, .searchIndexes,
    ]

    /// The cases that the backend fails, with the reasons.
    package static let knownFailures: [String: String] = [:]

    /// Creates the target. The connections of each case lead through a proxy, which can end them at a commit.
    /// - Parameters:
    ///   - pooler: A pooler in transaction mode between that proxy and the server.
    ///   - refusing: A proxy between that one and the server, which refuses statements.
    ///   - further: Features that the settings of the server add to those that the backend claims.
    package static func on(
        _ server: PostgreSQLServer, through pooler: TransactionPooler? = nil, refusing: ProtocolProxy? = nil,
        claiming further: Set<Capabilities.Feature> = []
    ) -> ConformanceTarget {
        let proxies = Protected<[String: ConnectionProxy]>([:])
        return ConformanceTarget(
            name: "postgresql", capabilities: capabilities.union(further), findsDamage: false, keepsLocalFiles: false,
            store: { location in
                do {
                    let proxy = try proxies.withLock { proxies in
                        let proxy = try proxies[location.path] ?? ConnectionProxy(server, folder: pooler?.folder ?? refusing?.folder)
                        proxies[location.path] = proxy
                        return proxy
                    }
                    return try .postgreSQL(proxy.url(options: pooler == nil ? "" : "pooler=transaction"), options: options(location))
                } catch { return StoreConfiguration(engine: "postgresql", location: location.path) { _ in throw error } }
            },
            teardown: { location in
                proxies.withLock { $0.removeValue(forKey: location.path) }?.stop()
                try server.psql("DROP SCHEMA IF EXISTS \(options(location).schema) CASCADE")
            },
            // Without the proxy, whose faults concern commits alone.
            copyLocation: { server.url(options: "schema=\(options($0).schema)") },
            failCommit: { location, fault in
                switch fault {
                case .responseLost(let isCommitted):
                    proxies.withLock { $0[location.path] }?.failNextCommit(isCommitted ? .responseLost : .commitLost)
                case .notSerializable: failOnce(options(location).schema, server)
                }
            })
    }

    /// Returns the options of the store of a case.
    private static func options(_ location: ConformanceLocation) -> PostgreSQLOptions {
        var options = PostgreSQLOptions()
        options.schema = "s" + String(location.path.utf8.reduce(5381 as UInt64) { $0 &* 33 &+ UInt64($1) }, radix: 16)
        options.maximumConnections = 100
        // Practically without a limit: a loaded machine is not a failure.
        options.busyTimeout = .seconds(3600)
        options.connectTimeout = .seconds(600)
        return options
    }

    /// Lets the server refuse the next commit as it refuses one that is not serializable. The sequence counts it, because its changes are not rolled back.
    private static func failOnce(_ schema: String, _ server: PostgreSQLServer) {
        _ = try? server.psql(
            """
            CREATE SEQUENCE \(schema).failures;
            CREATE FUNCTION \(schema).fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('\(schema).failures') = 1 THEN RAISE EXCEPTION 'not serializable' USING ERRCODE = '40001'; END IF;
            RETURN NEW; END $$;
            CREATE TRIGGER fail_once BEFORE INSERT ON \(schema).polystore_commits FOR EACH ROW EXECUTE FUNCTION \(schema).fail_once();
            """)
    }
}
