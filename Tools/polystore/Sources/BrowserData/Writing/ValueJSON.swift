import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

extension JSONValue {
    /// Creates the exact value of an attribute, as exports write it; the row id of a related object.
    init(_ value: QueryValue?, _ type: AttributeType?) {
        switch value {
        case nil: self = .null
        case .bool(let bool)?: self = .bool(bool)
        case .integer(let integer)?: self = JSONValue(integer)
        case .unsigned(let integer)?: self = JSONValue(integer)
        case .real(let real)?:
            let number = type == .float ? JSONNumber(Float(real)) : JSONNumber(real)
            // JSON has no such number.
            self = number.map { .number($0) } ?? .string(real.isNaN ? "NaN" : real < 0 ? "-Infinity" : "Infinity")
        case .text(let text)?: self = type == .json ? (try? JSONValue(parsing: text)) ?? .string(text) : .string(text)
        case .date(let date)?: self = .string(BrowserValue.text(date))
        case .data(let data)?: self = .string(data.base64EncodedString())
        case .uuid(let uuid)?: self = .string(uuid.uuidString)
        case .url(let url)?: self = .string(url.absoluteString)
        case .decimal(let decimal)?: self = (try? decimal.sourceValue(options: .default)) ?? .string("NaN")
        case .objectID(let id)?: self = JSONValue(id.rowID)
        }
    }
}
