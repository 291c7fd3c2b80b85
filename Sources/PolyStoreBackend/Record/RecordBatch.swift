/// Rows of one entity that are looked at together, one field after another instead of one row after another: conditions and aggregates on fields
/// then cost a few instructions a row. The rows' bytes belong to whoever fills it.
package final class RecordBatch {
    let layout: RecordLayout
    /// Of each row, where its record begins and how long it is.
    let records: UnsafeMutablePointer<UnsafeRawPointer?>
    let counts: UnsafeMutablePointer<Int>
    package let ids: UnsafeMutablePointer<Int64>
    /// The rows that are still in question, by number, ascending.
    let selection: UnsafeMutablePointer<Int32>
    // Of one thread, in one step each.
    @exclusivity(unchecked) package private(set) var selected = 0
    /// For each selected row the number of its group.
    let groups: UnsafeMutablePointer<Int32>

    /// - Parameters:
    ///   - records: where rows' records begin; at least as long as the batch as it.
    ///   - counts: how long they are.
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

    /// Selects some rows, and no others.
    package func select(_ rows: Range<Int>) {
        selected = 0
        for row in rows {
            selection[selected] = Int32(truncatingIfNeeded: row)
            selected &+= 1
        }
    }

    /// The first row whose record says that it is of another layout. What it takes is there in each of them.
    package func firstOfAnotherLayout(_ rows: Range<Int>) -> Int? {
        // Everything but the flags.
        let mask = UInt64(littleEndian: 0xffff_ffff_ffff_00ff)
        let expected = layout.template.loadUnaligned(as: UInt64.self) & mask
        for row in rows where record(row).loadUnaligned(as: UInt64.self) & mask != expected { return row }
        return nil
    }

    /// The id of a selected row.
    package func id(_ position: Int) -> Int64 { ids[Int(selection[position])] }

    /// A row as a view; its record must be there.
    @inline(__always)
    func view(_ row: Int) -> RecordView {
        RecordView(trusting: records[row].unsafelyUnwrapped, count: counts[row], layout: layout)
    }

    /// Keeps the rows that a test accepts. Without a branch on its answer, which no processor could guess.
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

/// Whether a field is null, with the place of its bit worked out once.
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
    /// Runs a loop with a reader of an integer field that need not ask for its width.
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

    /// The same for a real field.
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

/// Values by number, in memory that does not move behind the owner's back: what is kept per group.
final class Slots<Value> {
    private(set) var count = 0
    private var capacity = 16
    // Of one thread, in one step each.
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
