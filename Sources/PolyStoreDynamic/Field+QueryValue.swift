import Foundation
import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreKernel

extension Field {
    /// Returns a value in the form in which the field keeps it.
    /// - Throws: `invalidValue` if it is not a value of the field's type, or out of the range of that type.
    func stored(_ value: QueryValue, of object: any DynamicModel) throws -> Value {
        try stored(value) { object.invalid($0, name) }
    }

    /// - Parameter invalid: Creates the error for a problem.
    func stored(_ value: QueryValue, invalid: (String) -> StoreError) throws -> Value {
        if type == .float, case .real(let real) = value, real.isFinite, !Float(real).isFinite {
            throw invalid("cannot have the value \(value), which is out of the range of a Float")
        }
        guard let stored = try converted(value, invalid) else {
            throw invalid("is of the type \(type.rawValue), and \(value) is not a value of it")
        }
        do { try check(stored) } catch let error as StoreError {
            // The problem ends with a period.
            throw invalid(
                "cannot have the value \(value): \(error.message.hasSuffix(".") ? String(error.message.dropLast()) : error.message)")
        }
        return stored
    }

    /// Returns the stored form of a value; nil if it is of another type.
    private func converted(_ value: QueryValue, _ invalid: (String) -> StoreError) throws -> Value? {
        switch (type, value) {
        case (.bool, .bool(let bool)): .integer(bool ? 1 : 0)
        case (.uint64, .integer), (.uint64, .unsigned), (.uint64, .real): value.uint64.map { .integer(Int64(bitPattern: $0)) }
        case (.int8, _), (.int16, _), (.int32, _), (.int64, _), (.uint8, _), (.uint16, _), (.uint32, _): value.int64.map { .integer($0) }
        case (.float, _), (.double, _): number(value).map { .real(Value.normalized($0)) }
        case (.date, .date(let date)): .real(Value.normalized(date.timeIntervalSinceReferenceDate))
        case (.decimal, .decimal(let decimal)): decimal.attributeValue
        case (.decimal, .integer(let integer)): Decimal(integer).attributeValue
        case (.decimal, .unsigned(let integer)): Decimal(integer).attributeValue
        case (.decimal, .real(let real)): Decimal(string: "\(real)", locale: Locale(identifier: "en_US_POSIX"))?.attributeValue
        case (.string, .text(let text)): .text(text)
        case (.url, .url(let url)): url.attributeValue
        case (.url, .text(let text)): URL(string: text)?.attributeValue
        case (.json, .text(let text)): try json(text, invalid)
        case (.data, .data(let data)): .blob([UInt8](data))
        case (.uuid, .uuid(let uuid)): uuid.attributeValue
        case (.uuid, .text(let text)): UUID(uuidString: text)?.attributeValue
        default: nil
        }
    }

    /// Returns a number that a floating-point attribute keeps; nil for an integer that it would round.
    private func number(_ value: QueryValue) -> Double? {
        switch value {
        case .real(let real): type == .float ? Double(Float(real)) : real
        case .integer(let integer): type == .float ? Float(exactly: integer).map { Double($0) } : Double(exactly: integer)
        case .unsigned(let integer): type == .float ? Float(exactly: integer).map { Double($0) } : Double(exactly: integer)
        case .decimal: value.double.flatMap { number(.real($0)) }
        default: nil
        }
    }

    private func json(_ text: String, _ invalid: (String) -> StoreError) throws -> Value {
        do { _ = try JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) } catch {
            throw invalid("needs a text of JSON")
        }
        return .text(text)
    }
}
