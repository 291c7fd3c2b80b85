/// The first byte of every key: what kind of entry it is. Entries of one kind lie together, so that a backup, a conversion or a comparison is an
/// ordered walk.
///
/// | space | key | value |
/// |---|---|---|
/// | metadata | kind, … | see ``Metadata`` |
/// | record | entity u32, id | the record |
/// | blobChunk | entity u32, id, field u32, chunk u32 | a piece of a value over 64 KiB |
/// | index | index u32, components, id | nothing |
/// | uniqueIndex | index u32, components | the id; a key with a null component goes to `index` instead |
/// | link | relationship u32, source, target | nothing |
/// | linkInverse | relationship u32, target, source | nothing |
/// | changeLog | commit version u64, number u32 | a change |
public enum Keyspace: UInt8, Sendable, CaseIterable {
    case metadata = 0x00
    case record = 0x10
    case blobChunk = 0x11
    case index = 0x20
    case uniqueIndex = 0x21
    case link = 0x30
    case linkInverse = 0x31
    case changeLog = 0x40

    /// The kinds of entries in the metadata space.
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
    }
}
