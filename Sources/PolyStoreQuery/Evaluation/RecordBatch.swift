import PolyStoreBackend

/// Rows of one entity that are evaluated together, field by field instead of row by row. Conditions and aggregates on fields then cost a few instructions
/// per row. The caller that fills the batch owns the bytes of the rows.
package final class RecordBatch {
    let layout: RecordLayout
    /// The address and the byte count of the record of each row.
    let records: UnsafeMutablePointer<UnsafeRawPointer?>
    let counts: UnsafeMutablePointer<Int>
    package let ids: UnsafeMutablePointer<Int64>
    /// The indexes of the selected rows, ascending.
    let selection: UnsafeMutablePointer<Int32>
    // Used by one thread, and no access overlaps another.
    @exclusivity(unchecked) package private(set) var selected = 0
    /// The group index of each selected row.
    let groups: UnsafeMutablePointer<Int32>

    /// - Parameters:
    ///   - records: The address of the record of each row; at least `capacity` elements.
    ///   - counts: The byte count of the record of each row.
    package init(
        _ layout: RecordLayout, capacity: Int, records: UnsafeMutablePointer<UnsafeRawPointer?>, counts: UnsafeMutablePointer<Int>
    ) {
        self.layout = layout
        self.records = records
        self.counts = counts
        ids = .allocate(capacity: capacity)
        selection = .allocate(capacity: capacity)
        groups = .allocate(capacity: capacity)
        ids.initialize(repeating: 0, count: capacity)
        selection.initialize(repeating: 0, count: capacity)
        groups.initialize(repeating: 0, count: capacity)
    }

    deinit {
        ids.deallocate()
        selection.deallocate()
        groups.deallocate()
    }

    /// Selects a range of rows and deselects all others.
    package func select(_ rows: Range<Int>) {
        selected = 0
        for row in rows {
            selection[selected] = Int32(truncatingIfNeeded: row)
            selected &+= 1
        }
    }

    /// Returns the first row whose record header does not match the layout. Every row must have a complete header.
    /// - Parameter number: The layout number that the header of each record must have.
    package func firstOfAnotherLayout(_ rows: Range<Int>, number: UInt16 = 0) -> Int? {
        // All header bytes except the flags.
        let mask = UInt64(littleEndian: 0xffff_ffff_ffff_00ff)
        let expected = layout.template.loadUnaligned(as: UInt64.self) & mask | UInt64(littleEndian: UInt64(number) << 16)
        for row in rows where record(row).loadUnaligned(as: UInt64.self) & mask != expected { return row }
        return nil
    }

    /// Returns the row id of a selected row.
    package func id(_ position: Int) -> Int64 { ids[Int(selection[position])] }

    /// Returns a view of a row, whose record must be loaded.
    @inline(__always)
    func view(_ row: Int) -> RecordView {
        RecordView(trusting: records[row].unsafelyUnwrapped, count: counts[row], layout: layout)
    }

    /// Keeps the selected rows that a test accepts. The loop has no branch on the result, which the processor could not predict.
    @inline(__always)
    func narrow(_ accepts: (Int) throws -> Bool) rethrows {
        var kept = 0
        for position in 0..<selected {
            let row = selection[position]
            selection[kept] = row
            kept &+= try accepts(Int(row)) ? 1 : 0
        }
        selected = kept
    }

    @inline(__always)
    func record(_ row: Int) -> UnsafeRawPointer { records[row].unsafelyUnwrapped }
}

/// The null bit of a field, with its offset computed once.
struct NullBit {
    private let offset: Int
    private let bit: UInt8

    init(_ field: Int) {
        offset = RecordLayout.headerSize + field >> 3
        bit = 1 << UInt8(truncatingIfNeeded: field & 7)
    }

    @inline(__always)
    func isNull(_ record: UnsafeRawPointer) -> Bool { record.load(fromByteOffset: offset, as: UInt8.self) & bit != 0 }
}

extension RecordLayout {
    /// Calls `loop` with a function that reads an integer field. The function is specialized for the width of the field.
    @inline(__always)
    func withIntegers(of field: Int, _ loop: ((UnsafeRawPointer) -> Int64) -> Void) {
        let at = Int(slots[field].position)
        switch slots[field].code {
        case .int64: loop { Int64(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: Int64.self)) }
        case .uint8: loop { Int64($0.load(fromByteOffset: at, as: UInt8.self)) }
        case .int8: loop { Int64($0.load(fromByteOffset: at, as: Int8.self)) }
        case .int16: loop { Int64(Int16(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: Int16.self))) }
        case .uint16: loop { Int64(UInt16(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: UInt16.self))) }
        case .int32: loop { Int64(Int32(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: Int32.self))) }
        case .uint32: loop { Int64(UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: UInt32.self))) }
        case .float, .double, .variable: loop { _ in 0 }
        }
    }

    /// Calls `loop` with a function that reads a real field. The function is specialized for the width of the field.
    @inline(__always)
    func withReals(of field: Int, _ loop: ((UnsafeRawPointer) -> Double) -> Void) {
        let at = Int(slots[field].position)
        switch slots[field].code {
        case .double: loop { Double(bitPattern: UInt64(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: UInt64.self))) }
        case .float: loop { Double(Float(bitPattern: UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: UInt32.self)))) }
        default: loop { _ in 0 }
        }
    }
}

/// A growing array of values, one per group.
final class Slots<Value> {
    private(set) var count = 0
    private var capacity = 16
    // Used by one thread, and no access overlaps another.
    @exclusivity(unchecked) private(set) var base: UnsafeMutablePointer<Value>

    init() { base = .allocate(capacity: capacity) }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    func append(_ value: Value) {
        if count == capacity {
            let larger = UnsafeMutablePointer<Value>.allocate(capacity: 2 * capacity)
            larger.moveInitialize(from: base, count: count)
            base.deallocate()
            base = larger
            capacity *= 2
        }
        (base + count).initialize(to: value)
        count += 1
    }
}
