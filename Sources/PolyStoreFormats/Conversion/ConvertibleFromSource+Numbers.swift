import Foundation

extension ConvertibleFromSource where Self: FixedWidthInteger {
    /// Creates an integer from a number without a fraction, or from its text. `1.0` and `1e3` are accepted; `1.5` and numbers out of range are errors.
    public init(source: JSONValue, options: ConversionOptions) throws {
        switch source {
        case .number(let number):
            if let value = number.integer(as: Self.self) {
                self = value
                return
            }
            throw Self.failure(number, source)
        case .string(let text) where options.convertsText:
            // Also accepts +7 and 007, which are invalid in JSON.
            if let value = Self(text) {
                self = value
                return
            }
            guard let number = text.sourceNumber else { break }
            guard let value = number.integer(as: Self.self) else { throw Self.failure(number, source) }
            self = value
            return
        default: break
        }
        throw RecordError.wrongType(expected: "an integer", found: source)
    }

    private static func failure(_ number: JSONNumber, _ source: JSONValue) -> RecordError {
        // A number beyond the precision of Double has no fraction.
        if let value = number.double, value.magnitude < 9.1e15, value != value.rounded() {
            return .wrongType(expected: "an integer", found: source)
        }
        return .outOfRange("\(Self.self)", source)
    }
}

extension Int: ConvertibleFromSource {}
extension Int8: ConvertibleFromSource {}
extension Int16: ConvertibleFromSource {}
extension Int32: ConvertibleFromSource {}
extension Int64: ConvertibleFromSource {}
extension UInt: ConvertibleFromSource {}
extension UInt8: ConvertibleFromSource {}
extension UInt16: ConvertibleFromSource {}
extension UInt32: ConvertibleFromSource {}
extension UInt64: ConvertibleFromSource {}

extension Double: ConvertibleFromSource {
    /// Creates the nearest `Double`. A number out of range is an error. The text `NaN`, `Infinity` and `-Infinity` is accepted.
    public init(source: JSONValue, options: ConversionOptions) throws {
        self = try source.floatingPoint(options, \.double)
    }
}

extension Float: ConvertibleFromSource {
    /// Creates the nearest `Float`. A number out of range is an error. The text `NaN`, `Infinity` and `-Infinity` is accepted.
    public init(source: JSONValue, options: ConversionOptions) throws {
        self = try source.floatingPoint(options, \.float)
    }
}

extension Decimal: ConvertibleFromSource {
    /// Creates the exact `Decimal`. A number with more than 38 digits is an error.
    public init(source: JSONValue, options: ConversionOptions) throws {
        guard let number = source.number(options) else { throw RecordError.wrongType(expected: "a number", found: source) }
        guard let value = number.decimal else { throw RecordError.outOfRange("Decimal", source) }
        self = value
    }
}

extension String {
    /// The number that the text represents, in the grammar of JSON extended by a plus sign and leading zeros.
    var sourceNumber: JSONNumber? {
        if let number = JSONNumber(text: self) { return number }
        var digits = self[...]
        let isNegative = digits.first == "-"
        if isNegative || digits.first == "+" { digits = digits.dropFirst() }
        guard let first = digits.utf8.first, first &- 48 < 10 else { return nil }
        let zeros = digits.prefix { $0 == "0" }
        var rest = digits[zeros.endIndex...]
        if !zeros.isEmpty, !(rest.utf8.first.map { $0 &- 48 < 10 } ?? false) { rest = digits[digits.index(before: zeros.endIndex)...] }
        return JSONNumber(text: (isNegative ? "-" : "") + rest)
    }
}

extension JSONValue {
    /// Returns the value of a number or, if text is converted, of a text.
    func number(_ options: ConversionOptions) -> JSONNumber? {
        switch self {
        case .number(let number): number
        case .string(let text) where options.convertsText: text.sourceNumber
        default: nil
        }
    }

    fileprivate func floatingPoint<T: BinaryFloatingPoint>(_ options: ConversionOptions, _ nearest: (JSONNumber) -> T?) throws -> T {
        if let number = number(options) {
            guard let value = nearest(number) else { throw RecordError.outOfRange("\(T.self)", self) }
            return value
        }
        switch self {
        case .string("NaN"): return .nan
        case .string("Infinity"): return .infinity
        case .string("-Infinity"): return -.infinity
        default: throw RecordError.wrongType(expected: "a number", found: self)
        }
    }
}
