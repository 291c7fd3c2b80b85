/// The first byte of every key, which identifies the kind of entry. Entries of a kind are contiguous, so a backup, a conversion or a comparison is an ordered
/// scan.
///
/// | space | key | value |
/// |---|---|---|
/// | metadata | kind, … | see ``Metadata`` |
/// | record | entity u32, id | the record, sealed |
/// | blobChunk | entity u32, id, field u32, chunk u32 | a piece of a value over 64 KiB |
/// | index | index u32, components, id | nothing |
/// | uniqueIndex | index u32, components | the id; where a component is null or was cut the id also ends the key |
/// | link | link table u32, source, target | nothing |
/// | linkInverse | link table u32, target, source | nothing |
/// | changeLog | position u64, piece u32 | a piece of an entry of the change log, sealed (`ChangeLog`) |
///
/// The numbers of entities, indexes and link tables are assigned once and stored in the metadata. All numbers in keys are big-endian.
public enum Keyspace: UInt8, Sendable, CaseIterable {
    case metadata = 0x00
    case record = 0x10
    case blobChunk = 0x11
    case index = 0x20
    case uniqueIndex = 0x21
    case link = 0x30
    case linkInverse = 0x31
    case changeLog = 0x40

    /// The kinds of entries in the metadata space: the second byte.
    ///
    /// | kind | key | value |
    /// |---|---|---|
    /// | format | | u32: the version of this layout |
    /// | schema | version u32 | the model as JSON, sealed (`SealedValue`) |
    /// | entity | number u32 | its name |
    /// | sequence | entity u32 | u64: the next id |
    /// | indexState | index u32 | state u8, flags u8, entity u32, its fields' names with NUL between them |
    /// | buildProgress | index u32 | i64: up to which id the index is built |
    /// | statistics | entity u32 | i64: number of records |
    /// | commitVersion | | u64 |
    /// | identity | | store id, hash of the model, configuration (`StoreIdentity`), sealed |
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
    public enum Metadata: UInt8, Sendable, CaseIterable {
        case format = 0x01
        case schema
        case entity
        case sequence
        case migrationJournal
        case indexState
        case buildProgress
        case statistics
        case commitVersion
        case identity
        case link
        case value
        case log
        case layout
        case oldLayout
        case reversedLink
        case migration
        case migrationPosition
        case migrationValue
        case removal
    }
}
