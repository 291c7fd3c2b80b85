/// A reader of LLVM's bitstream format: https://llvm.org/docs/BitCodeFormat.html
struct Bitstream {
    struct Malformed: Error {}

    enum Item {
        case begin(block: Int)
        case end
        /// - Parameters:
        ///   - fields: All fields after the code, except the blob.
        case record(code: Int, fields: [Int], blob: [UInt8])
    }

    private enum Operand {
        case literal(Int)
        case fixed(Int)
        case variable(Int)
        case array, character, blob
    }

    private let bytes: [UInt8]
    private var bit: Int
    /// The width of abbreviation numbers and the abbreviations in the current block, and those of the blocks around it.
    private var width = 2
    private var abbreviations: [[Operand]] = []
    private var outer: [(width: Int, abbreviations: [[Operand]])] = []
    /// The abbreviations that block 0, the block of block information, declares for other blocks.
    private var declared: [Int: [[Operand]]] = [:]
    private var block = -1
    private var blocks: [Int] = []
    private var describedBlock = -1

    /// - Parameter bytes: The contents of a file, which begins with a signature of four bytes.
    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        bit = 32
    }

    /// Returns the next item, or `nil` at the end.
    mutating func next() throws -> Item? {
        while bit + width <= bytes.count * 8 {
            switch try fixed(width) {
            case 0:
                align()
                guard let last = outer.popLast(), let around = blocks.popLast() else { throw Malformed() }
                (width, abbreviations) = last
                block = around
                return .end
            case 1: return .begin(block: try enterBlock())
            case 2: try defineAbbreviation()
            case 3:
                let code = try variable(6)
                let count = try variable(6)
                let fields = try (0..<count).map { _ in try variable(6) }
                if block == 0 {
                    // Record 1 names the block that the following abbreviations belong to; the others are names for people.
                    if code == 1 { describedBlock = fields.first ?? -1 }
                    continue
                }
                return .record(code: code, fields: fields, blob: [])
            case let id:
                guard abbreviations.indices.contains(id - 4) else { throw Malformed() }
                return try record(abbreviations[id - 4])
            }
        }
        return nil
    }

    private mutating func enterBlock() throws -> Int {
        outer.append((width, abbreviations))
        blocks.append(block)
        block = try variable(8)
        let inner = try variable(4)
        align()
        _ = try fixed(32)
        width = inner
        abbreviations = declared[block] ?? []
        return block
    }

    private mutating func defineAbbreviation() throws {
        var operands: [Operand] = []
        for _ in 0..<(try variable(5)) {
            if try fixed(1) == 1 {
                operands.append(.literal(try variable(8)))
                continue
            }
            switch try fixed(3) {
            case 1: operands.append(.fixed(try variable(5)))
            case 2: operands.append(.variable(try variable(5)))
            case 3: operands.append(.array)
            case 4: operands.append(.character)
            case 5: operands.append(.blob)
            default: throw Malformed()
            }
        }
        if block == 0 { declared[describedBlock, default: []].append(operands) } else { abbreviations.append(operands) }
    }

    private mutating func record(_ operands: [Operand]) throws -> Item {
        var fields: [Int] = []
        var blob: [UInt8] = []
        var rest = operands[...]
        while let operand = rest.popFirst() {
            switch operand {
            case .array:
                guard let element = rest.popFirst() else { throw Malformed() }
                for _ in 0..<(try variable(6)) { fields.append(try scalar(element)) }
            case .blob:
                let count = try variable(6)
                align()
                guard bit / 8 + count <= bytes.count else { throw Malformed() }
                blob = Array(bytes[bit / 8..<bit / 8 + count])
                bit += count * 8
                align()
            default: fields.append(try scalar(operand))
            }
        }
        guard let code = fields.first else { throw Malformed() }
        return .record(code: code, fields: Array(fields.dropFirst()), blob: blob)
    }

    private mutating func scalar(_ operand: Operand) throws -> Int {
        switch operand {
        case .literal(let value): value
        case .fixed(let bits): try fixed(bits)
        case .variable(let bits): try variable(bits)
        // The records of diagnostics contain no 6-bit characters; their value is of no interest.
        case .character: try fixed(6)
        case .array, .blob: throw Malformed()
        }
    }

    private mutating func fixed(_ count: Int) throws -> Int {
        guard bit + count <= bytes.count * 8 else { throw Malformed() }
        var value = 0
        for offset in 0..<count {
            value |= Int(bytes[bit / 8] >> (bit % 8) & 1) << offset
            bit += 1
        }
        return value
    }

    /// Reads chunks of `count` bits. The highest bit of a chunk indicates whether another follows.
    private mutating func variable(_ count: Int) throws -> Int {
        guard count > 1 else { throw Malformed() }
        var value = 0
        var shift = 0
        while true {
            let chunk = try fixed(count)
            let more = 1 << (count - 1)
            guard shift < 63 else { throw Malformed() }
            value |= (chunk & (more - 1)) << shift
            if chunk & more == 0 { return value }
            shift += count - 1
        }
    }

    private mutating func align() { bit = (bit + 31) / 32 * 32 }
}
