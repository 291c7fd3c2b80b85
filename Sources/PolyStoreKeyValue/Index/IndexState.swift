import PolyStoreBackend

/// What a store keeps about an index: whether it can be read yet, and what is special about its entries.
struct IndexState: Hashable, Sendable {
    enum Phase: UInt8, Sendable {
        /// Complete: queries may use it.
        case readable = 1
        /// Writers keep it up to date, but it still misses entries of earlier records.
        case writeOnly = 2
    }

    var phase = Phase.readable
    /// Some entry was cut at some time, so the order of entries is only that of their beginnings.
    var holdsCutEntries = false
    let entity: UInt32
    /// Whether no two objects may have the same values.
    let isUnique: Bool
    /// The fields' names, NUL between them: unlike those of any other index of the entity.
    let name: String

    init(entity: UInt32, isUnique: Bool, name: String) {
        self.entity = entity
        self.isUnique = isUnique
        self.name = name
    }

    /// - Returns: nil for bytes that are none.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count > 6, let phase = Phase(rawValue: bytes[0]) else { return nil }
        self.phase = phase
        holdsCutEntries = bytes[1] & 1 != 0
        isUnique = bytes[1] & 2 != 0
        entity = UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: 2, as: UInt32.self))
        name = String(decoding: bytes[6...], as: UTF8.self)
    }

    /// What a store calls an index.
    static func name(_ index: Index, _ entity: Entity) -> String { index.fields.map { entity.fields[$0].name }.joined(separator: "\0") }

    var bytes: [UInt8] { [phase.rawValue, (holdsCutEntries ? 1 : 0) | (isUnique ? 2 : 0)] + Number.bytes(entity) + Array(name.utf8) }
}
