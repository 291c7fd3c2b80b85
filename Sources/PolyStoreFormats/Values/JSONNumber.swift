/// A JSON number, stored exactly: its text is that of the source.
///
/// Numbers with equal values are equal, such as `1`, `1.0` and `1e0`. ``text`` distinguishes them.
public struct JSONNumber: Sendable {
    enum Storage: Sendable {
        /// A number whose text is the shortest decimal form.
        case int64(Int64)
        /// A number above `Int64.max` whose text is the shortest decimal form.
        case uint64(UInt64)
        /// Any other valid JSON number.
        case text(String)
    }

    let storage: Storage

    init(storage: Storage) { self.storage = storage }

    /// Creates a number from an integer.
    public init(_ value: Int64) { storage = .int64(value) }

    public init(_ value: some BinaryInteger) {
        if let small = Int64(exactly: value) {
            storage = .int64(small)
        } else if let large = UInt64(exactly: value) {
            storage = .uint64(large)
        } else {
            storage = .text(String(value))
        }
    }

    /// Creates a number with the shortest text that reads back as `value`; nil for NaN and infinity, which JSON cannot represent.
    public init?(_ value: Double) {
        guard value.isFinite else { return nil }
        self.init(finite: value.description)
    }

    /// Creates a number with the shortest text that reads back as `value`; nil for NaN and infinity, which JSON cannot represent.
    public init?(_ value: Float) {
        guard value.isFinite else { return nil }
        self.init(finite: value.description)
    }

    /// - Parameter text: The description of a finite floating-point number. The fraction `.0` is removed.
    private init(finite text: String) {
        if text.hasSuffix(".0"), let whole = Int64(text.dropLast(2)), text != "-0.0" {
            storage = .int64(whole)
        } else {
            storage = .text(text)
        }
    }

    /// Creates a number from text in the grammar of JSON, such as `-12.50e3`; nil for any other text.
    public init?(text: String) {
        var text = text
        let number: JSONNumber? = text.withUTF8 { bytes in
            guard let end = NumberScanner.end(of: bytes, from: 0), end == bytes.count else { return nil }
            return JSONNumber(validated: UnsafeRawBufferPointer(bytes))
        }
        guard let number else { return nil }
        self = number
    }

    /// - Parameter bytes: A valid JSON number.
    init(validated bytes: UnsafeRawBufferPointer) {
        if let integer = NumberScanner.storage(of: bytes) {
            storage = integer
        } else {
            storage = .text(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The text of the number in the source, or its shortest decimal form.
    public var text: String {
        switch storage {
        case .int64(let value): String(value)
        case .uint64(let value): String(value)
        case .text(let text): text
        }
    }
}

extension JSONNumber: CustomStringConvertible {
    public var description: String { text }
}

extension JSONNumber: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    public init(integerLiteral value: Int64) { storage = .int64(value) }
    /// Creates a number from a literal. A literal out of the range of `Double` becomes `1e999`, whose ``double`` is nil.
    public init(floatLiteral value: Double) {
        self = JSONNumber(value) ?? JSONNumber(storage: .text(value < 0 ? "-1e999" : "1e999"))
    }
}

extension JSONNumber: Hashable {
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        switch (left.storage, right.storage) {
        case (.int64(let left), .int64(let right)): return left == right
        case (.uint64(let left), .uint64(let right)): return left == right
        case (.int64, .uint64), (.uint64, .int64): return false
        case (.text(let left), .text(let right)) where left == right: return true
        default: break
        }
        guard let leftDigits = DecimalDigits(validText: left.text), let rightDigits = DecimalDigits(validText: right.text) else {
            // Numbers whose exponent has a magnitude of 10^18 or more are compared as text.
            return left.text == right.text
        }
        return leftDigits == rightDigits
    }

    public func hash(into hasher: inout Hasher) {
        if let value = int64 {
            hasher.combine(value)
        } else if let value = uint64 {
            hasher.combine(value)
        } else {
            let text = text
            if let digits = DecimalDigits(validText: text) { hasher.combine(digits) } else { hasher.combine(text) }
        }
    }
}
