/// A migration in progress: the store before it, and the store that it creates.
///
/// No other transaction writes to the store during the migration. Readers of other processes keep the snapshot from before the migration until ``commit()``;
/// afterwards every transaction of a backend that was opened for the source schema throws `differentStoreAtURL`.
///
/// A migration that does not end with ``commit()`` leaves the store unchanged. If the process ends during the migration, the store is in one of three states:
/// before the migration, after it, or interrupted. The next ``StorageBackend/beginMigration(_:)`` with the same change resumes an interrupted migration.
/// Opening such a store for writing without ``OpenRequest/keepsInterruptedMigration`` removes what the interrupted migration has written.
///
/// A migration belongs to one thread at a time.
public protocol StoreMigration: AnyObject {
    /// A snapshot of the store before the migration, in the source schema. Close its cursors before ``save(_:)``, and read this property again afterwards.
    var source: any ReadTransaction { get }
    /// The store after the migration, in the target schema.
    ///
    /// Every record that is carried over or inserted can be read. Records may be inserted, updated and deleted in entities that start empty, and links changed
    /// in link tables that start empty; changing others throws `misuse`. Named values and the change log keep their contents and may be changed. Unique indexes
    /// of entities that start empty are checked by ``WriteTransaction/apply(_:)``, those of carried entities by ``commit()``. Its `commit` and `rollback` throw
    /// `misuse` or have no effect. Read this property again after ``save(_:)``.
    var target: any WriteTransaction { get }
    /// The last position that an interrupted attempt at the same migration saved; `nil` if there is none. The caller resumes after it.
    var savedPosition: [UInt8]? { get }
    /// Ends a batch: makes everything applied to ``target`` durable together with a position, if the engine divides the migration into several transactions.
    ///
    /// Engines that migrate in one transaction do nothing.
    /// - Parameter position: At most ``NamedValue/longestValue`` bytes that identify where to resume.
    func save(_ position: [UInt8]) throws
    /// Replaces the source schema and its data with the target schema and its data, and builds the indexes of carried entities.
    ///
    /// The backend that began the migration is closed afterwards; open the store for the target schema.
    /// - Throws: `constraint` with entity, attribute and row id if carried records violate a unique index; the store is then unchanged.
    func commit() throws
    /// Removes everything the migration has written. A second call, or a call after ``commit()``, has no effect.
    func rollback()
}
