import CLMDB

/// The environment of a file that compaction replaced, open until its last transaction ends.
struct RetiredEnvironment {
    let environment: OpaquePointer
    /// A descriptor of the old lock file.
    let lockTest: Int32?
    /// The number of transactions that use the environment.
    var running: Int

    func close() {
        mdb_env_close(environment)
        if let lockTest { LMDBFile.close(lockTest) }
    }
}
