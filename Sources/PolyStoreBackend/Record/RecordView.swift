/// A record read in place, from bytes that somebody else owns. Copies nothing, keeps nothing alive.
///
/// Valid only while its bytes and its layout are: a view from a cursor until the cursor's next step, one from
/// ``ReadTransaction/record(_:id:)`` until the next call on that transaction. Made over foreign bytes it checks them once
/// (``init(validating:layout:)``); after that no field can be read out of bounds, whatever the bytes are.
public struct RecordView {
    @usableFromInline let base: UnsafeRawPointer
    /// Bytes of the whole record.
    public let count: Int
    @usableFromInline let slots: UnsafeMutablePointer<FieldSlot>
    @usableFromInline let endsOffset: Int
    @usableFromInline let heapOffset: Int

    /// For bytes that a ``RecordBuilder`` of the same layout wrote in this process.
    @inlinable
    public init(trusting base: UnsafeRawPointer, count: Int, layout: RecordLayout) {
        self.base = base
        self.count = count
        self.slots = layout.slots
        self.endsOffset = layout.endsOffset
        self.heapOffset = layout.heapOffset
    }

    @inlinable
    init(trusting base: UnsafeRawPointer, count: Int, slots: UnsafeMutablePointer<FieldSlot>, endsOffset: Int, heapOffset: Int) {
        self.base = base
        self.count = count
        self.slots = slots
        self.endsOffset = endsOffset
        self.heapOffset = heapOffset
    }

    /// For bytes from outside.
    /// - Throws: `corrupt`, with the entity and what is wrong, unless every field can be read safely.
    public init(validating bytes: UnsafeRawBufferPointer, layout: RecordLayout) throws {
        func corrupt(_ what: String) -> StoreError {
            StoreError(.corrupt, "A record of \(layout.entityName) is damaged: \(what).", entity: layout.entityName)
        }
        guard let base = bytes.baseAddress, bytes.count >= layout.heapOffset else {
            throw corrupt("\(bytes.count) bytes, at least \(layout.heapOffset) are needed")
        }
        self.init(trusting: base, count: bytes.count, layout: layout)
        guard base.load(as: UInt8.self) == RecordLayout.format else { throw corrupt("unknown format \(base.load(as: UInt8.self))") }
        guard u16(4) == layout.fixedLength, u16(6) == layout.variableCount else { throw corrupt("its layout is another") }
        var previous = 0
        for variable in 0..<layout.variableCount {
            let end = end(of: variable)
            guard end >= previous, end <= bytes.count - layout.heapOffset else { throw corrupt("field offsets out of bounds") }
            previous = end
        }
    }

    /// All bytes of the record.
    @inlinable public var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    private func u16(_ offset: Int) -> Int { Int(UInt16(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt16.self))) }

    @inlinable
    func end(of variable: Int) -> Int {
        Int(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: endsOffset + 4 * variable, as: UInt32.self)))
    }
}

extension RecordView {
    @inlinable
    public func isNull(_ field: Int) -> Bool {
        base.load(fromByteOffset: RecordLayout.headerSize + field >> 3, as: UInt8.self) & (1 &<< UInt8(truncatingIfNeeded: field & 7)) != 0
    }

    /// An integer field, widened; 0 where it is null.
    @inlinable
    public func integer(_ field: Int) -> Int64 {
        let slot = slots[field]
        let at = Int(slot.position)
        switch slot.code {
        case .int64: return Int64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int64.self))
        case .uint8: return Int64(base.load(fromByteOffset: at, as: UInt8.self))
        case .int8: return Int64(base.load(fromByteOffset: at, as: Int8.self))
        case .int16: return Int64(Int16(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int16.self)))
        case .uint16: return Int64(UInt16(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt16.self)))
        case .int32: return Int64(Int32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: Int32.self)))
        case .uint32: return Int64(UInt32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt32.self)))
        case .float, .double, .variable: return 0
        }
    }

    /// A field of 64 bits whose type the caller knows, as written by the macro; 0 where it is null.
    @inlinable
    public func integer64(_ field: Int) -> Int64 {
        Int64(littleEndian: base.loadUnaligned(fromByteOffset: Int(slots[field].position), as: Int64.self))
    }

    /// A real field, widened; 0 where it is null.
    @inlinable
    public func real(_ field: Int) -> Double {
        let slot = slots[field]
        let at = Int(slot.position)
        switch slot.code {
        case .double: return Double(bitPattern: UInt64(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt64.self)))
        case .float: return Double(Float(bitPattern: UInt32(littleEndian: base.loadUnaligned(fromByteOffset: at, as: UInt32.self))))
        default: return 0
        }
    }

    /// The bytes of a text or blob field, in place; empty where it is null.
    @inlinable
    public func bytes(_ field: Int) -> UnsafeRawBufferPointer {
        let slot = slots[field]
        guard slot.code == .variable else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let variable = Int(slot.position)
        let start = variable == 0 ? 0 : end(of: variable - 1)
        return UnsafeRawBufferPointer(start: base + (heapOffset + start), count: end(of: variable) - start)
    }

    /// A text field; invalid UTF-8 is repaired as `String(decoding:as:)` does.
    @inlinable
    public func string(_ field: Int) -> String { TextBytes.string(bytes(field)) }

    /// Any field as a value.
    public func value(_ field: Field) -> Value {
        if isNull(field.ordinal) { return .null }
        switch field.type.physical {
        case .integer: return .integer(integer(field.ordinal))
        case .real: return .real(real(field.ordinal))
        case .text: return .text(string(field.ordinal))
        case .blob: return .blob([UInt8](bytes(field.ordinal)))
        }
    }
}
