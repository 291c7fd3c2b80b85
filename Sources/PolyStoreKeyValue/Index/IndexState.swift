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
    /// The names of the components, separated by NUL. Unique within the entity.
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
    ///
    /// The name of a field of a JSON attribute is that of the attribute, two NULs, the type, and for each key a colon, its length in bytes, a colon, and the key.
    /// No other name contains NUL.
    static func name(_ index: Index, _ entity: Entity) -> String {
        index.parts.map { part in
            let name = entity.fields[part.field].name
            guard let json = part.json else { return name }
            return "\(name)\0\0\(json.type.rawValue)" + json.keys.map { ":\($0.utf8.count):\($0)" }.joined()
        }.joined(separator: "\0")
    }

    var bytes: [UInt8] {
        [phase.rawValue, (holdsCutEntries ? 1 : 0) | (isUnique ? 2 : 0)] + BigEndianInteger.bytes(entity) + Array(name.utf8)
    }
}
