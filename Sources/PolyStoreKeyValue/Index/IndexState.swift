import PolyStoreBackend

/// The stored state of an index: its phase and the properties of its entries.
struct IndexState: Hashable, Sendable {
    enum Phase: UInt8, Sendable {
        /// Complete: queries can use the index.
        case readable = 1
        /// Writers maintain the index, but entries of earlier records are missing.
        case writeOnly = 2
    }

    var phase = Phase.readable
    /// A Boolean value that indicates whether an entry was ever truncated, so that entries are ordered only by their prefixes.
    var holdsCutEntries = false
    let entity: UInt32
    /// A Boolean value that indicates whether no two objects may have the same values.
    let isUnique: Bool
    /// The names of the fields, separated by NUL. Unique within the entity.
    let name: String

    init(entity: UInt32, isUnique: Bool, name: String) {
        self.entity = entity
        self.isUnique = isUnique
        self.name = name
    }

    /// - Returns: `nil` for invalid bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 6, let phase = Phase(rawValue: bytes[0]) else { return nil }
        self.phase = phase
        holdsCutEntries = bytes[1] & 1 != 0
        isUnique = bytes[1] & 2 != 0
        entity = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
        name = String(decoding: bytes[6...], as: UTF8.self)
    }

    /// Returns the stored name of an index.
    static func name(_ index: Index, _ entity: Entity) -> String { index.fields.map { entity.fields[$0].name }.joined(separator: "\0") }

    var bytes: [UInt8] {
        [phase.rawValue, (holdsCutEntries ? 1 : 0) | (isUnique ? 2 : 0)] + BigEndianInteger.bytes(entity) + Array(name.utf8)
    }
}
