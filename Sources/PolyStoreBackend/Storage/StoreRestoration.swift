/// A snapshot that shows the row id sequences of the store. Every ``ReadTransaction`` of the built-in backends conforms.
package protocol RowIDSequences: ReadTransaction {
    /// Returns the first row id of an entity that was never reserved.
    /// - Throws: `misuse` for an entity of another schema, `corrupt`, `closed`.
    func nextRowID(_ entity: Entity) throws -> Int64
}

/// A write transaction that can write what a store otherwise numbers itself: the positions and versions of log entries, and the version of the store.
///
/// A conversion uses it, so that tokens of the history that were taken from the source are valid for the target. Every ``WriteTransaction`` of the built-in backends conforms.
package protocol RestoringTransaction: WriteTransaction, RowIDSequences {
    /// Appends entries with their own positions and versions.
    /// - Parameter entries: Entries in ascending order of position, each after the last one in the log.
    func restoreLog(_ entries: [LogEntry]) throws
    /// Sets the bounds of a log that has no entries.
    /// - Parameter position: The position up to which entries were removed.
    func restoreLogRemoval(through position: Int64) throws
    /// Lets the commit of this transaction have a version, and assigns the store to its configuration. The store must be closed after the commit.
    func completeRestoration(version: UInt64, configurationName: String?) throws
}

/// The values that a conversion passes to the store that it creates.
package struct ConversionTarget: Sendable, Hashable {
    /// The store id of the source, so that the URIs of objects lead to the same objects of the target.
    package var storeID: String

    package init(storeID: String) { self.storeID = storeID }

    private static let mark = "\(NamedValue.reservedPrefix)conversion"

    /// Returns the name of the configuration of an incomplete target. Every opening except that of a conversion refuses it.
    /// - Parameter name: The name of the configuration of the source.
    package static func configurationName(for name: String?) -> String { name.map { "\(mark):\($0)" } ?? mark }

    /// Returns whether the name of a configuration is that of an incomplete target.
    package static func isIncomplete(_ configurationName: String?) -> Bool {
        configurationName == mark || configurationName?.hasPrefix("\(mark):") ?? false
    }

    /// Returns the error of opening an incomplete target.
    package static func incompleteError(_ location: String) -> StoreError {
        StoreError(
            .differentStoreAtURL,
            "\(location) is the incomplete target of a conversion, which was interrupted or is running. Run the conversion again to complete it, or delete \(location).",
            location: location)
    }
}

/// A store on a server that can be locked for a conversion.
package protocol ConversionLocking: RemoteStore {
    /// Locks the location of the store as the target of a conversion until the result is released.
    /// - Returns: nil if the connection cannot keep a lock.
    /// - Throws: `busy` if another conversion has the lock, `io`.
    func lockConversion() throws -> (any AnyObject & Sendable)?
    /// Deletes the incomplete target of a conversion. Has no effect if the store does not exist.
    /// - Throws: `io` for a complete store, which another conversion may have completed meanwhile; and the errors of ``RemoteStore/erase()``.
    func eraseIncomplete() throws
}

extension ConversionTarget {
    /// Returns the error of deleting a target that is complete.
    package static func completedError(_ location: String) -> StoreError {
        StoreError(.io, "Another conversion has completed \(location), which is not deleted. Choose another target.", location: location)
    }

    /// Returns the error of a second conversion to a target.
    package static func busyError(_ location: String) -> StoreError {
        StoreError(.busy, "Another conversion writes to \(location). Wait for its end, or choose another target.", location: location)
    }
}
