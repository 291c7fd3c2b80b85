/// The first byte of every key, which identifies the kind of entry. The entries of one kind are contiguous, so one range scan reads all of them.
///
/// | space | key | value |
/// |---|---|---|
/// | metadata | kind, … | see ``Metadata`` |
/// | record | entity u32, id | the record, sealed |
/// | blobChunk | entity u32, id, field u32, chunk u32 | a chunk of a value over 64 KiB |
/// | index | index u32, components, id | nothing |
/// | uniqueIndex | index u32, components | the id; where a component is null or was cut the id also ends the key |
/// | link | link table u32, source, target | nothing; the position in an ordered relationship |
/// | linkInverse | link table u32, target, source | nothing; the position in an ordered relationship |
/// | search | full-text index u32, page | a page of the index (`KeyValueSearchPages`) |
/// | searchChunk | full-text index u32, page, chunk u32 | a chunk of a page over 64 KiB |
/// | changeLog | position u64, piece u32 | a piece of an entry of the change log, sealed (`ChangeLog`) |
///
/// The numbers of entities, indexes, full-text indexes and link tables are assigned once and stored in the metadata. All numbers in keys are big-endian.
public enum Keyspace: UInt8, Sendable, CaseIterable {
    /// The metadata of the store.
    case metadata = 0x00
    /// The records.
    case record = 0x10
    /// The chunks of long values.
    case blobChunk = 0x11
    /// The entries of indexes that are not unique.
    case index = 0x20
    /// The entries of unique indexes.
    case uniqueIndex = 0x21
    /// The links of link tables, by source.
    case link = 0x30
    /// The links of link tables, by target.
    case linkInverse = 0x31
    /// The entries of the change log.
    case changeLog = 0x40
    /// The pages of full-text indexes.
    case search = 0x50
    /// The chunks of long pages of full-text indexes.
    case searchChunk = 0x51

    /// The kinds of entries in the metadata space: the second byte.
    ///
    /// | kind | key | value |
    /// |---|---|---|
    /// | format | | u32: the version of this layout |
    /// | schema | version u32 | the model as JSON, sealed (`SealedValue`); for 0: u64, the commit version of the last migration |
    /// | entity | number u32 | its name |
    /// | sequence | entity u32 | u64: the next id |
    /// | indexState | index u32 | state u8, flags u8, entity u32, its fields' names with NUL between them |
    /// | buildProgress | index u32 | i64: up to which id the index is built |
    /// | statistics | entity u32 | i64: number of records |
    /// | commitVersion | | u64 |
    /// | identity | | store id, hash of the model, configuration (`KeyValueStoreIdentity`), sealed |
    /// | link | link table u32 | its name |
    /// | value | a name, UTF-8 | a named value of the store, sealed |
    /// | log | | u64: entries of the change log up to this position were removed; sealed |
    /// | layout | entity u32 | u16: the layout number of new records |
    /// | oldLayout | entity u32, layout u16 | the types of the fields and how to translate them (`OldLayout`), sealed |
    /// | reversedLink | link table u32 | nothing: the table's sources are on the other side |
    /// | migration | | the journal of an unfinished migration (`MigrationJournal`), sealed |
    /// | migrationPosition | | where the migration continues, sealed |
    /// | migrationValue | a name, UTF-8 | the named value after the migration, sealed |
    /// | removal | space u8, number u32 | nothing: the keys of this space and number must be removed |
    /// | searchIndex | full-text index u32 | what it indexes and how much of it is built (`SearchIndexEntry`), sealed |
    public enum Metadata: UInt8, Sendable, CaseIterable {
        /// The format of the store.
        case format = 0x01
        /// The schema of a version.
        case schema
        /// The name of an entity.
        case entity
        /// The next row id of an entity.
        case sequence
        /// The mark of a reset in progress (`StoreReset`).
        case migrationJournal
        /// The state of an index.
        case indexState
        /// The progress of an index that is being built.
        case buildProgress
        /// The record count of an entity.
        case statistics
        /// The number of commits.
        case commitVersion
        /// The identity of the store.
        case identity
        /// The name of a link table.
        case link
        /// A named value.
        case value
        /// The beginning of the change log.
        case log
        /// The record layout of an entity.
        case layout
        /// An earlier record layout of an entity.
        case oldLayout
        /// A link table whose sources and targets are exchanged.
        case reversedLink
        /// The journal of an unfinished migration.
        case migration
        /// The position at which a migration continues.
        case migrationPosition
        /// A named value that a migration sets at its end.
        case migrationValue
        /// A range of keys that the background work removes.
        case removal
        /// The entry of a full-text index.
        case searchIndex
    }
}
