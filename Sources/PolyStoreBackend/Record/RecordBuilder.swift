/// Writes records into an arena, one after another.
///
///     var builder = RecordBuilder(arena)
///     builder.begin(entity.layout)
///     builder.setInteger(0, 41)
///     builder.setText(1, "Jane")
///     let encoded = try builder.finish()          // offset and count in the arena
///
/// A field that is not set is null. Set fields of variable length in ascending order; `finish` throws `misuse` otherwise.
public struct RecordBuilder {
    @usableFromInline let arena: RecordArena
    @usableFromInline var layout: RecordLayout?
    /// The start of the current record. The arena's count changes only when the record is finished, so an abandoned record leaves nothing behind.
    @usableFromInline var base: UnsafeMutableRawPointer
    /// The number of bytes written to the current record, and its capacity.
    @usableFromInline var count = 0
    @usableFromInline var room = 0
    // Copies of the layout's values, so that setting a field does not access the layout.
    @usableFromInline var template: UnsafeMutableRawPointer?
    @usableFromInline var heapOffset = 0
    @usableFromInline var endsOffset = 0
    @usableFromInline var variableCount = 0
    /// The field slots of the layout; set by `begin`.
    @usableFromInline var slots: UnsafeMutablePointer<FieldSlot>!
    @usableFromInline var nextVariable = 0
    @usableFromInline var isOutOfOrder = false

    /// Creates a builder that writes to an arena.
    public init(_ arena: RecordArena) {
        self.arena = arena
        base = arena.storage
    }

    /// Starts a record with all fields null.
    @inlinable
    public mutating func begin(_ layout: RecordLayout) {
        if self.layout !== layout { take(layout) }
        nextVariable = 0
        isOutOfOrder = false
        arena.reserve(heapOffset)
        base = arena.storage + arena.count
        room = arena.capacity &- arena.count
        if let template { base.copyMemory(from: template, byteCount: heapOffset) }
        count = heapOffset
    }

    /// Reserves capacity for more bytes of the current record.
    @usableFromInline
    mutating func grow(_ extra: Int) {
        let start = arena.count
        arena.setCount(start + count)
        arena.reserve(extra)
        arena.setCount(start)
        base = arena.storage + start
        room = arena.capacity - start
    }

    @usableFromInline
    mutating func take(_ layout: RecordLayout) {
        self.layout = layout
        slots = layout.slots
        template = layout.template
        heapOffset = layout.heapOffset
        endsOffset = layout.endsOffset
        variableCount = layout.variableCount
    }

    @inlinable @inline(__always)
    func clearNull(_ field: Int) {
        let at = base + (RecordLayout.headerSize &+ field >> 3)
        let byte = at.load(as: UInt8.self)
        at.storeBytes(of: byte & ~(1 &<< UInt8(truncatingIfNeeded: field & 7)), as: UInt8.self)
    }

    /// Sets an integer field. The caller has checked that the value is within the range of the field's type.
    @inlinable @inline(__always)
    public mutating func setInteger(_ field: Int, _ value: Int64) {
        clearNull(field)
        if !slots[field].store(value, in: base) { isOutOfOrder = true }
    }

    /// Sets a real field, normalized (see ``Value/normalized(_:)``).
    @inlinable @inline(__always)
    public mutating func setReal(_ field: Int, _ value: Double) {
        clearNull(field)
        if !slots[field].store(value, in: base) { isOutOfOrder = true }
    }

    /// Sets a text field.
    @inlinable
    public mutating func setText(_ field: Int, _ value: String) {
        var value = value
        value.withUTF8 { setBytes(field, UnsafeRawBufferPointer($0)) }
    }

    /// Sets a text or blob field to a copy of the bytes.
    @inlinable @inline(__always)
    public mutating func setBytes(_ field: Int, _ bytes: UnsafeRawBufferPointer) {
        let slot = slots[field]
        let variable = Int(slot.position)
        guard slot.code == .variable, variable >= nextVariable else {
            isOutOfOrder = true
            return
        }
        clearNull(field)
        if bytes.count > room &- count { grow(bytes.count) }
        if let source = bytes.baseAddress { (base + count).copyMemory(from: source, byteCount: bytes.count) }
        if variable > nextVariable { fillEnds(nextVariable, variable, count &- heapOffset) }
        count &+= bytes.count
        storeEnd(variable, count &- heapOffset)
        nextVariable = variable &+ 1
    }

    @inlinable @inline(__always)
    func storeEnd(_ variable: Int, _ end: Int) {
        base.storeBytes(of: UInt32(truncatingIfNeeded: end).littleEndian, toByteOffset: endsOffset &+ 4 &* variable, as: UInt32.self)
    }

    @usableFromInline
    func fillEnds(_ from: Int, _ to: Int, _ end: Int) {
        for variable in from..<to { storeEnd(variable, end) }
    }

    /// Sets a field of any type.
    /// - Throws: `invalidValue` if the value has another physical type.
    public mutating func set(_ field: Field, _ value: Value) throws {
        switch (value, field.type.physical) {
        case (.null, _): break
        case (.integer(let value), .integer): setInteger(field.index, value)
        case (.real(let value), .real): setReal(field.index, value)
        case (.text(let value), .text): setText(field.index, value)
        case (.blob(let value), .blob): value.withUnsafeBytes { setBytes(field.index, $0) }
        default:
            throw StoreError(.invalidValue, "\(field.name) takes \(field.type.physical), not \(value).", attribute: field.name)
        }
    }

    /// Finishes the record.
    /// - Returns: Its offset in the arena and its byte count.
    /// - Throws: `misuse` if fields were set out of order or with the wrong type; `full` if the record exceeds 4 GiB. The record is then discarded.
    @inlinable @inline(__always)
    public mutating func finish() throws -> (offset: Int, count: Int) {
        guard !isOutOfOrder, count <= Int(UInt32.max) else { throw failure() }
        if nextVariable < variableCount { fillEnds(nextVariable, variableCount, count &- heapOffset) }
        let start = arena.count
        arena.setCount(start &+ count)
        return (start, count)
    }

    /// Finishes the record and returns a view of it; valid until the arena grows or is cleared.
    @inlinable @inline(__always)
    public mutating func finishedView() throws -> RecordView {
        let encoded = try finish()
        return RecordView(trusting: base, count: encoded.count, slots: slots, endsOffset: endsOffset, heapOffset: heapOffset)
    }

    @usableFromInline
    func failure() -> StoreError {
        let size = count
        let name = layout?.entityName ?? "?"
        if size > Int(UInt32.max) { return StoreError(.full, "A record of \(name) has \(size) bytes; 4 GiB is the limit.", entity: name) }
        return StoreError(
            .misuse,
            "A record of \(name) was built out of order: set fields of variable length in ascending order, each with its own type.",
            entity: name)
    }
}

extension RecordBuilder {
    /// Copies a field from another record of the same entity, including null.
    public mutating func copy(_ field: Field, from record: RecordView) {
        if record.isNull(field.index) { return }
        switch field.type.physical {
        case .integer: setInteger(field.index, record.integer(field.index))
        case .real: setReal(field.index, record.real(field.index))
        case .text, .blob: setBytes(field.index, record.bytes(field.index))
        }
    }
}
