/// The options of a store in PostgreSQL.
public struct PostgreSQLOptions: Sendable, Hashable {
    /// The maximum number of connections that the store opens at the same time, at least 2. Each open snapshot and the write transaction need one.
    public var maximumConnections = 20
    /// The maximum number of idle connections that are kept for later transactions.
    public var maximumIdleConnections = 4
    /// The time to wait for a connection to the server.
    public var connectTimeout = Duration.seconds(10)
    /// The time to wait for another writer, in any process, and for a free connection, before `busy` is thrown.
    public var busyTimeout = Duration.seconds(10)
    /// The time to wait for each response of the server, after which the connection is closed and `busy` is thrown; nil, the default, waits as long as the network reports
    /// the connection as alive.
    public var responseTimeout: Duration?
    /// The time after which the server ends a statement, which then throws `busy`; nil, the default, for no limit.
    public var statementTimeout: Duration?
    /// The time that a statement waits for a lock that another client of the database holds, before it throws `busy`; nil, the default, for the setting of the user. The wait for other
    /// writers is limited by ``busyTimeout``.
    public var lockTimeout: Duration?
    /// The time after which the server ends a transaction that sends no statement, with its connection; nil, the default, for no limit.
    public var idleTransactionTimeout: Duration?
    /// The age from which a transaction of any client is logged as a warning if it keeps the server from removing earlier versions of rows; nil logs none. The default is 60 seconds. A store that
    /// commits looks for such transactions once a minute.
    public var transactionWarningAge: Duration? = .seconds(60)
    /// A Boolean value that indicates whether the URL is that of a pooler in transaction mode, such as pgbouncer, which gives each transaction any of its connections. Nothing is then kept
    /// on a connection between transactions, and the commits of others are found by reading the version.
    public var usesTransactionPooler = false
    /// The time after which a connection that was not used is checked before its next use.
    package var idleCheckTime = Duration.seconds(30)
    /// The minimum time between two searches for transactions of ``transactionWarningAge``.
    package var holderCheckTime = Duration.seconds(60)
    /// The time to wait for the end of a statement that was cancelled, before the connection is closed.
    package var cancelTimeout = Duration.seconds(10)
    /// The time that the commit of a migration waits for the end of snapshots. New readers wait meanwhile.
    package var renamingTime = Duration.seconds(1)
    /// The time after which the server ends a transaction that replaces the tables and sends no statement: all others wait for it.
    package var replacementIdleTime = Duration.seconds(60)
    /// The schema of the database that contains the tables of the store. It is created if it does not exist.
    public var schema = "polystore"

    /// Creates options with the default values.
    public init() {}
}
