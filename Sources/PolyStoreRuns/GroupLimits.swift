/// The limits at which a commit group accepts no further transactions, which bound the latency of its first transaction, and the pauses before transactions are run
/// again.
package struct GroupLimits: Sendable {
    /// The maximum number of transactions.
    package var transactions: Int
    /// The maximum number of bytes of written records.
    package var bytes: Int
    /// The maximum time since the end of the first transaction, in nanoseconds.
    package var nanoseconds: UInt64
    /// The pauses before a transaction is run again, and before the outcome of a commit is requested again.
    package var backOff = BackOff()

    package init(transactions: Int = 256, bytes: Int = 4 << 20, nanoseconds: UInt64 = 10_000_000) {
        self.transactions = transactions
        self.bytes = bytes
        self.nanoseconds = nanoseconds
    }
}
