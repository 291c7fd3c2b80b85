/// The treatment of a character by the tokenizer. The raw values are those of scripts/unicode-tables.py.
enum ScalarClass: UInt32 {
    case other, letter, digit
    /// A character of a script that is written without spaces.
    case ideograph
    /// A mark that belongs to the character before it.
    case mark
    /// A vowel sign or another mark that takes space of its own.
    case spacingMark
    /// An invisible character within words, such as the soft hyphen.
    case ignorable
    case emoji
    /// Half of a flag.
    case flag
}

/// The class and the folded form of a character.
struct ScalarEntry {
    fileprivate(set) var bits: UInt32

    /// Bits 0 to 20 are the folded character, or 0 for the character itself.
    fileprivate static let foldMask: UInt32 = 0x1f_ffff
    fileprivate static let classShift: UInt32 = 21
    /// Bit 25: the folded form is several characters, whose index in the list of sequences is in bits 0 to 20.
    fileprivate static let isLongBit: UInt32 = 1 << 25
    /// Bit 26: the combining class is not 0.
    fileprivate static let isCombiningBit: UInt32 = 1 << 26
    /// Bit 27: the character can be composed with the one before it.
    fileprivate static let composesBit: UInt32 = 1 << 27
    /// Bit 28: the character, or the first one of its decomposition, can be composed with a character after it.
    fileprivate static let beginsBit: UInt32 = 1 << 28
    /// Bit 29: the character is an emoji after a joiner only.
    fileprivate static let isJoinedBit: UInt32 = 1 << 29
    /// Bit 30: the invisible character belongs to the character before it.
    fileprivate static let extendsBit: UInt32 = 1 << 30

    @inline(__always) var kind: UInt32 { bits >> Self.classShift & 15 }
    @inline(__always) func has(_ kind: ScalarClass) -> Bool { self.kind == kind.rawValue }
    @inline(__always) var isMark: Bool { has(.mark) || has(.spacingMark) }
    @inline(__always) var fold: UInt32 { bits & Self.foldMask }
    @inline(__always) var isLong: Bool { bits & Self.isLongBit != 0 }
    @inline(__always) var isCombining: Bool { bits & Self.isCombiningBit != 0 }
    @inline(__always) var composes: Bool { bits & Self.composesBit != 0 }
    @inline(__always) var begins: Bool { bits & Self.beginsBit != 0 }
    @inline(__always) var canBeJoined: Bool { bits & Self.isJoinedBit != 0 || has(.emoji) }
    @inline(__always) var extends: Bool { bits & Self.extendsBit != 0 }
}

/// The entries of all characters, in blocks that characters without differences share. Made from ``UnicodeData`` when it is used for the first time.
struct ScalarTable: @unchecked Sendable {
    // Unchecked because pointers are not sendable: nothing writes to the memory after `init`, and it is never deallocated.

    static let shared = ScalarTable()

    private static let blockShift: UInt32 = 7
    private static let blockSize = 1 << Int(blockShift)

    /// For each block of characters the index of its first entry.
    private let blocks: UnsafePointer<UInt32>
    private let entries: UnsafePointer<ScalarEntry>
    /// The folded forms of several characters: their number, and they.
    private let sequences: UnsafePointer<UInt32>

    @inline(__always) subscript(scalar: UInt32) -> ScalarEntry {
        entries[Int(blocks[Int(scalar >> Self.blockShift)] &+ scalar & UInt32(Self.blockSize - 1))]
    }

    /// Returns the characters of a long folded form.
    @inline(__always) func sequence(_ entry: ScalarEntry) -> UnsafeBufferPointer<UInt32> {
        let start = sequences + Int(entry.fold)
        return UnsafeBufferPointer(start: start + 1, count: Int(start[0]))
    }

    private init() {
        var builder = Builder()
        builder.addClasses()
        let sequences = builder.addFolds()
        builder.addCombining()
        builder.addRuns(UnicodeData.joinedPictographs, ScalarEntry.isJoinedBit)
        builder.addRuns(UnicodeData.extenders, ScalarEntry.extendsBit)
        blocks = Self.copied(builder.blocks)
        entries = Self.copied(builder.entries)
        self.sequences = Self.copied(sequences)
    }

    private static func copied<Element>(_ list: [Element]) -> UnsafePointer<Element> {
        let copy = UnsafeMutablePointer<Element>.allocate(capacity: list.count)
        list.withUnsafeBufferPointer { if let start = $0.baseAddress { copy.initialize(from: start, count: list.count) } }
        return UnsafePointer(copy)
    }
}

extension ScalarTable {
    private struct Builder {
        var blocks = [UInt32](repeating: 0, count: 0x110000 >> Int(ScalarTable.blockShift))
        var entries: [ScalarEntry]
        /// The first entry of the shared block of each class.
        private var uniform: [UInt32?] = [UInt32?](repeating: nil, count: 16)

        init() {
            entries = [ScalarEntry](repeating: ScalarEntry(bits: 0), count: ScalarTable.blockSize)
            uniform[0] = 0
        }

        mutating func addClasses() {
            var numbers = UnicodeNumbers(UnicodeData.classes)
            var start = 0
            while let length = numbers.next(), let kind = numbers.next() {
                add(start..<(start + Int(length)), ScalarEntry(bits: kind << ScalarEntry.classShift))
                start += Int(length)
            }
        }

        private mutating func add(_ range: Range<Int>, _ entry: ScalarEntry) {
            let kind = Int(entry.kind)
            var start = range.lowerBound
            while start < range.upperBound {
                let block = start / ScalarTable.blockSize
                let end = min(range.upperBound, (block + 1) * ScalarTable.blockSize)
                if end - start == ScalarTable.blockSize {
                    let shared = uniform[kind] ?? append([ScalarEntry](repeating: entry, count: ScalarTable.blockSize))
                    uniform[kind] = shared
                    blocks[block] = shared
                } else if kind != 0 {
                    let first = ownBlock(block)
                    for scalar in start..<end { entries[first + scalar % ScalarTable.blockSize] = entry }
                }
                start = end
            }
        }

        private mutating func append(_ block: [ScalarEntry]) -> UInt32 {
            entries += block
            return UInt32(entries.count - ScalarTable.blockSize)
        }

        /// Returns the first entry of a block that no other block shares.
        private mutating func ownBlock(_ block: Int) -> Int {
            let first = blocks[block]
            if uniform.contains(first) {
                blocks[block] = append(Array(entries[Int(first)..<(Int(first) + ScalarTable.blockSize)]))
            }
            return Int(blocks[block])
        }

        private mutating func set(_ scalar: UInt32, _ bits: UInt32) {
            let first = ownBlock(Int(scalar) / ScalarTable.blockSize)
            entries[first + Int(scalar) % ScalarTable.blockSize].bits |= bits
        }

        /// Adds the folded forms. Returns those of several characters.
        mutating func addFolds() -> [UInt32] {
            var numbers = UnicodeNumbers(UnicodeData.folds)
            var scalar: UInt32 = 0
            while let distance = numbers.next(), let run = numbers.next(), let difference = numbers.next() {
                scalar += distance
                let step = (run & 1) + 1
                for index in 0...(run >> 1) {
                    if index > 0 { scalar += step }
                    let target = difference & 1 == 0 ? scalar + difference >> 1 : scalar - (difference + 1) >> 1
                    set(scalar, target)
                }
            }
            var sequences: [UInt32] = []
            numbers = UnicodeNumbers(UnicodeData.longFolds)
            while let scalar = numbers.next(), let count = numbers.next() {
                set(scalar, UInt32(sequences.count) | ScalarEntry.isLongBit)
                sequences.append(count)
                for _ in 0..<count { if let part = numbers.next() { sequences.append(part) } }
            }
            return sequences
        }

        mutating func addCombining() {
            for run in ScalarComposition.combiningRuns {
                for scalar in run.range { set(scalar, ScalarEntry.isCombiningBit) }
            }
            for scalar in ScalarComposition.seconds { set(scalar, ScalarEntry.composesBit) }
            for scalar in ScalarComposition.shared.firsts { set(scalar, ScalarEntry.beginsBit) }
        }

        mutating func addRuns(_ table: StaticString, _ bits: UInt32) {
            var numbers = UnicodeNumbers(table)
            var scalar: UInt32 = 0
            while let distance = numbers.next(), let length = numbers.next() {
                scalar += distance
                for each in scalar..<(scalar + length) { set(each, bits) }
                scalar += length
            }
        }
    }
}

/// Reads the numbers of a table of ``UnicodeData``.
struct UnicodeNumbers: Sequence, IteratorProtocol {
    private let digits: UnsafePointer<UInt8>
    private let count: Int
    private var offset = 0

    init(_ table: StaticString) {
        digits = table.utf8Start
        count = table.utf8CodeUnitCount
    }

    mutating func next() -> UInt32? {
        guard offset < count else { return nil }
        var number: UInt32 = 0
        var shift: UInt32 = 0
        while offset < count {
            let digit = Self.value(digits[offset])
            offset += 1
            number |= (digit & 31) << shift
            shift += 5
            if digit & 32 == 0 { break }
        }
        return number
    }

    private static func value(_ digit: UInt8) -> UInt32 {
        switch digit {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit) - 65
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit) - 71
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit) + 4
        case UInt8(ascii: "+"): 62
        default: 63
        }
    }
}
