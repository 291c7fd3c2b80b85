import Foundation
import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreKernel

/// How the values of a column become values of an attribute, and back.
enum ColumnForm: Sendable, Hashable {
    case integer, real, text, blob, bool, decimal
    case date(DateText.Form)
    /// Seconds or milliseconds since 1970, distinguished by their size.
    case unixTime(perSecond: Int64)
    case uuid(isUppercase: Bool)
    case uuidBytes
    /// Values of several storage classes, as literals of SQL.
    case literal

    var attributeType: AttributeType {
        switch self {
        case .integer: .int64
        case .real: .double
        case .text, .literal: .string
        case .blob: .data
        case .bool: .bool
        case .decimal: .decimal
        case .date, .unixTime: .date
        case .uuid, .uuidBytes: .uuid
        }
    }

    /// Returns whether a value is the same after it was converted to the attribute and back.
    func accepts(_ value: SQLiteValue) -> Bool {
        switch (self, value) {
        case (.literal, _), (.decimal, .integer): return true
        default: break
        }
        guard let attribute = attributeValue(value), let back = columnValue(attribute) else { return false }
        return back == value
    }

    /// Returns the value of the attribute for a value that is not null; nil if it has none.
    func attributeValue(_ value: SQLiteValue) -> QueryValue? {
        switch (self, value) {
        case (.integer, .integer(let integer)): .integer(integer)
        case (.real, .real(let real)): .real(real)
        case (.text, .text(let text)): .text(text)
        case (.blob, .blob(let bytes)): .data(Data(bytes))
        case (.bool, .integer(let integer)): integer == 0 || integer == 1 ? .bool(integer == 1) : nil
        case (.decimal, .integer(let integer)): .decimal(Decimal(integer))
        case (.decimal, .real(let real)): real.isFinite ? Decimal(string: "\(real)").map { .decimal($0) } : nil
        case (.date(let form), .text(let text)): DateText.date(text, form).map { .date($0) }
        case (.unixTime(let perSecond), .integer(let integer)):
            Self.isTime(integer, perSecond) ? .date(Date(timeIntervalSince1970: Double(integer) / Double(perSecond))) : nil
        case (.uuid, .text(let text)): UUID(uuidString: text).map { .uuid($0) }
        case (.uuidBytes, .blob(let bytes)):
            bytes.count == 16 ? .uuid(UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })) : nil
        case (.literal, _): .text(value.description)
        default: nil
        }
    }

    /// Returns the value of the column for a value of the attribute; nil if it has none.
    func columnValue(_ value: QueryValue) -> SQLiteValue? {
        switch (self, value) {
        case (.integer, .integer(let integer)): .integer(integer)
        case (.real, .real(let real)): .real(real)
        case (.text, .text(let text)): .text(text)
        case (.blob, .data(let data)): .blob([UInt8](data))
        case (.bool, .bool(let bool)): .integer(bool ? 1 : 0)
        case (.decimal, .decimal(let decimal)): number(decimal)
        case (.date(let form), .date(let date)): DateText.text(date, form).map { .text($0) }
        case (.unixTime(let perSecond), .date(let date)):
            Int64(exactly: (date.timeIntervalSince1970 * Double(perSecond)).rounded()).map { .integer($0) }
        case (.uuid(let isUppercase), .uuid(let uuid)): .text(isUppercase ? uuid.uuidString : uuid.uuidString.lowercased())
        case (.uuidBytes, .uuid(let uuid)): .blob(withUnsafeBytes(of: uuid.uuid) { [UInt8]($0) })
        case (.literal, .text(let text)): SQLiteValue(literal: text)
        default: nil
        }
    }

    /// Returns whether an integer is a time of the unit: seconds end in the year 5138, where milliseconds begin, so that both are before it.
    private static func isTime(_ integer: Int64, _ perSecond: Int64) -> Bool {
        let largest: UInt64 = 100_000_000_000
        return perSecond == 1 ? integer.magnitude < largest : (largest..<largest * 1000).contains(integer.magnitude)
    }

    private func number(_ decimal: Decimal) -> SQLiteValue? {
        let text = decimal.description
        return Int64(text).map { .integer($0) } ?? Double(text).map { .real($0) }
    }

    /// Returns the stored form of a value of the attribute, for the default in a schema.
    func storedValue(_ value: QueryValue) -> Value? {
        switch value {
        case .bool(let bool): bool.attributeValue
        case .integer(let integer): integer.attributeValue
        case .real(let real): real.attributeValue
        case .text(let text): text.attributeValue
        case .data(let data): data.attributeValue
        case .decimal(let decimal): decimal.attributeValue
        case .date(let date): date.attributeValue
        case .uuid(let uuid): uuid.attributeValue
        default: nil
        }
    }
}

/// The affinity of a column, which SQLite derives from the declared type.
enum ColumnAffinity {
    case integer, text, blob, real, numeric

    init(_ declared: String) {
        let name = declared.uppercased()
        func has(_ part: String) -> Bool { name.contains(part) }
        if has("INT") {
            self = .integer
        } else if has("CHAR") || has("CLOB") || has("TEXT") {
            self = .text
        } else if has("BLOB") || name.isEmpty {
            self = .blob
        } else {
            self = has("REAL") || has("FLOA") || has("DOUB") ? .real : .numeric
        }
    }

    /// Returns the value that a column with the affinity stores.
    func stored(_ value: SQLiteValue) -> SQLiteValue {
        switch (self, value) {
        case (.text, .integer(let integer)): .text("\(integer)")
        case (.text, .real(let real)): .text("\(real)")
        case (.integer, .text(let text)), (.numeric, .text(let text)): Self.number(text) ?? value
        case (.integer, .real(let real)), (.numeric, .real(let real)): Int64(exactly: real).map { .integer($0) } ?? value
        case (.real, .integer(let integer)): .real(Double(integer))
        case (.real, .text): Self.real(value)
        default: value
        }
    }

    private static func number(_ text: String) -> SQLiteValue? {
        let number = SQLiteValue(decimal: text)
        guard case .real(let real)? = number else { return number }
        return Int64(exactly: real).map { .integer($0) } ?? number
    }

    private static func real(_ value: SQLiteValue) -> SQLiteValue {
        guard case .text(let text) = value, let number = SQLiteValue(decimal: text) else { return value }
        if case .integer(let integer) = number { return .real(Double(integer)) }
        return number
    }
}

/// Finds the form of a column from its declared type and its values.
struct ColumnProfile {
    /// The forms that every value so far has, the preferred first.
    private var candidates: [ColumnForm]
    private(set) var isEmpty = true
    private let affinity: ColumnAffinity

    init(declared: String) {
        affinity = ColumnAffinity(declared)
        candidates = Self.conventions(declared) + Self.forms(affinity) + [.integer, .real, .text, .blob, .literal]
    }

    var form: ColumnForm { candidates.first ?? .literal }

    mutating func add(_ value: SQLiteValue) {
        if value == .null { return }
        isEmpty = false
        candidates.removeAll { !$0.accepts(value) }
    }

    /// The forms that applications use for declared types.
    private static func conventions(_ declared: String) -> [ColumnForm] {
        let name = declared.uppercased()
        func has(_ parts: String...) -> Bool { parts.contains { name.contains($0) } }
        let times: [ColumnForm] = [.unixTime(perSecond: 1), .unixTime(perSecond: 1000), .integer]
        if has("BOOL") { return [.bool] }
        if has("UUID", "GUID", "UNIQUEIDENTIFIER") { return [.uuid(isUppercase: true), .uuid(isUppercase: false), .uuidBytes] }
        if has("DATETIME", "TIMESTAMP") {
            return [
                .date(.second), .date(.millisecond), .date(.secondWithT), .date(.secondWithZone), .date(.millisecondWithZone), .date(.day),
            ]
                + times
        }
        if has("DATE") { return DateText.Form.allCases.map { .date($0) } + times }
        if has("DEC", "NUMERIC", "MONEY", "CURRENCY") { return [.decimal] }
        return has("STRING", "JSON", "ENUM") ? [.text] : []
    }

    private static func forms(_ affinity: ColumnAffinity) -> [ColumnForm] {
        switch affinity {
        case .integer: [.integer, .decimal]
        case .text: [.text]
        case .blob: [.blob]
        case .real: [.real]
        case .numeric: [.decimal]
        }
    }
}
