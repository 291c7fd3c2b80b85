import PolyStoreBackend

extension KeyWriter {
    /// Starts a new key.
    @discardableResult
    func begin(_ space: Keyspace, _ number: UInt32) -> KeyWriter {
        removeAll()
        append(byte: space.rawValue)
        append(number)
        return self
    }

    /// The size of a record key in bytes: the space, the entity's number and the row id.
    static let recordKeySize = 13

    func record(_ entity: UInt32, _ id: Int64) -> UnsafeRawBufferPointer {
        begin(.record, entity).append(id: id)
        return raw
    }

    /// Returns a copy of a record key.
    func recordBytes(_ entity: UInt32, _ id: Int64) -> [UInt8] {
        begin(.record, entity).append(id: id)
        return bytes
    }

    func chunk(_ entity: UInt32, _ id: Int64, field: Int, _ chunk: Int) -> UnsafeRawBufferPointer {
        begin(.blobChunk, entity).append(id: id)
        append(UInt32(truncatingIfNeeded: field))
        append(UInt32(truncatingIfNeeded: chunk))
        return raw
    }

    /// Encodes the common prefix of the keys of all chunks of an object.
    func chunks(_ entity: UInt32, _ id: Int64) -> UnsafeRawBufferPointer {
        begin(.blobChunk, entity).append(id: id)
        return raw
    }

    /// Returns a copy of the key of a link.
    func linkBytes(_ space: Keyspace, _ table: UInt32, _ near: Int64, _ far: Int64) -> [UInt8] {
        begin(space, table).append(id: near)
        append(id: far)
        return bytes
    }

    /// Encodes the key of a link, from one side.
    func link(_ space: Keyspace, _ table: UInt32, _ near: Int64, _ far: Int64? = nil) -> UnsafeRawBufferPointer {
        begin(space, table).append(id: near)
        if let far { append(id: far) }
        return raw
    }
}

extension Keyspace.Metadata {
    /// Returns the key of an entry, for the entry of a number if there is one.
    func key(_ number: UInt32? = nil) -> [UInt8] {
        [Keyspace.metadata.rawValue, rawValue] + (number.map { BigEndianInteger.bytes($0) } ?? [])
    }

    /// Returns the key of a named entry, or the prefix of the keys of all names that begin with the name.
    func key(named name: String) -> [UInt8] { [Keyspace.metadata.rawValue, rawValue] + Array(name.utf8) }
}

extension EngineSnapshot {
    func get(_ key: [UInt8]) throws -> UnsafeRawBufferPointer? { try key.withUnsafeBytes { try get($0) } }
}

extension EngineWriter {
    func put(_ key: [UInt8], _ value: [UInt8]) throws { try key.withUnsafeBytes { key in try value.withUnsafeBytes { try put(key, $0) } } }
    func remove(_ key: [UInt8]) throws { try key.withUnsafeBytes { try remove($0) } }
}

extension UnsafeRawBufferPointer {
    /// Returns the row id at an offset that the caller has checked.
    func id(at offset: Int) -> Int64 {
        Int64(bitPattern: UInt64(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt64.self)) ^ 1 << 63)
    }

    func starts(with other: UnsafeRawBufferPointer) -> Bool {
        count >= other.count && Order.of(UnsafeRawBufferPointer(rebasing: self[0..<other.count]), other) == 0
    }
}
