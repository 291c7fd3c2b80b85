/// The first byte of every key: what kind of entry it is. Entries of one kind lie together, so that a backup, a conversion or a comparison is an
/// ordered walk.
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
/// | changeLog | position u64, piece u32 | a piece of an entry of the change log, sealed (``ChangeLog``) |
///
/// Numbers of entities, indexes and link tables are given once and kept in the metadata; all numbers in keys are big-endian.
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
    /// | schema | version u32 | the model as JSON, sealed (``SealedValue``) |
    /// | entity | number u32 | its name |
    /// | sequence | entity u32 | u64: the next id |
    /// | indexState | index u32 | state u8, flags u8, entity u32, its fields' names with NUL between them |
    /// | buildProgress | index u32 | i64: up to which id the index is built |
    /// | statistics | entity u32 | i64: number of records |
    /// | commitVersion | | u64 |
    /// | identity | | store id, hash of the model, configuration (``StoreIdentity``), sealed |
    /// | link | link table u32 | its name |
    /// | value | a name, UTF-8 | a named value of the store, sealed |
    /// | log | | u64: entries of the change log up to this position were removed; sealed |
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
    }
}
