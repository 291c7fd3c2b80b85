import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

/// A value as a page shows it. Long texts and bytes are cut; the whole is read by ``BrowserStore/wholeValue(of:property:)``.
package struct BrowserValue: Sendable, Hashable {
    /// The kind of a value, by which a page aligns and marks it.
    package enum Kind: String, Sendable, Hashable {
        case null, bool, number, text, date, bytes, uuid, url, json
        /// A related object, with its reference.
        case object
    }

    package let kind: Kind
    /// The value for a reader: a date in ISO 8601, "–" for null, the display name of a related object, the number of bytes.
    package let text: String
    /// A Boolean value that indicates whether ``text`` is only the beginning of a text.
    package let isCut: Bool
    /// The number of bytes of a text in UTF-8 or of bytes; 0 for other values.
    package let size: Int
    /// The related object, for a link.
    package let reference: ObjectReference?
    /// The media type of bytes that are an image by their first bytes, such as `image/png`; nil for anything else.
    package let imageType: String?
    /// The number as a chart needs it; nil for other values. Dates are seconds since 2001.
    package let number: Double?

    package init(
        kind: Kind, text: String, isCut: Bool = false, size: Int = 0, reference: ObjectReference? = nil, imageType: String? = nil,
        number: Double? = nil
    ) {
        (self.kind, self.text, self.isCut, self.size) = (kind, text, isCut, size)
        (self.reference, self.imageType, self.number) = (reference, imageType, number)
    }

    /// No value.
    package static let null = BrowserValue(kind: .null, text: "–")

    /// A Boolean value that indicates whether the value is null.
    package var isNull: Bool { kind == .null }

    /// The greatest number of characters of a text that a page shows.
    package static let longest = 200

    /// Creates the value that a page shows.
    /// - Parameters:
    ///   - type: The type of the attribute; nil for calculations.
    ///   - limit: The greatest number of characters of a text.
    package init(_ value: QueryValue?, _ type: AttributeType? = nil, limit: Int = BrowserValue.longest) {
        guard let value else {
            self = .null
            return
        }
        switch value {
        case .bool(let bool): self.init(kind: .bool, text: bool ? "true" : "false", number: bool ? 1 : 0)
        case .integer(let integer): self.init(kind: .number, text: "\(integer)", number: Double(integer))
        case .unsigned(let integer): self.init(kind: .number, text: "\(integer)", number: Double(integer))
        case .real(let real): self.init(kind: .number, text: Self.text(real, type), number: real)
        case .text(let text): self = .cutting(text, kind: type == .json ? .json : .text, limit)
        case .url(let url): self = .cutting(url.absoluteString, kind: .url, limit)
        case .date(let date): self.init(kind: .date, text: Self.text(date), number: date.timeIntervalSinceReferenceDate)
        case .data(let data):
            self.init(
                kind: .bytes, text: data.count == 1 ? "1 byte" : "\(data.count) bytes", size: data.count, imageType: Self.imageType(data))
        case .uuid(let uuid): self.init(kind: .uuid, text: uuid.uuidString)
        case .decimal(let decimal):
            self.init(kind: .number, text: decimal.isNaN ? "NaN" : "\(decimal)", number: NSDecimalNumber(decimal: decimal).doubleValue)
        case .objectID(let id):
            self.init(
                kind: .object, text: "\(id.entityName) \(id.rowID)", reference: ObjectReference(entity: id.entityName, rowID: id.rowID))
        }
    }

    /// Creates the value of a related object.
    package init(_ object: RelatedObject) { self.init(kind: .object, text: object.name, reference: object.reference) }

    /// Returns a number, or the seconds since 2001 of a date; nil for other values.
    static func number(of value: QueryValue) -> Double? {
        switch value {
        case .bool(let bool): bool ? 1 : 0
        case .integer(let integer): Double(integer)
        case .unsigned(let integer): Double(integer)
        case .real(let real): real
        case .date(let date): date.timeIntervalSinceReferenceDate
        case .decimal(let decimal): NSDecimalNumber(decimal: decimal).doubleValue
        default: nil
        }
    }

    private static func cutting(_ text: String, kind: Kind, _ limit: Int) -> BrowserValue {
        let size = text.utf8.count
        guard size > limit, let end = text.index(text.startIndex, offsetBy: limit, limitedBy: text.endIndex), end < text.endIndex else {
            return BrowserValue(kind: kind, text: text, size: size)
        }
        return BrowserValue(kind: kind, text: String(text[..<end]), isCut: true, size: size)
    }

    private static func text(_ real: Double, _ type: AttributeType?) -> String {
        if real.isNaN { return "NaN" }
        if real.isInfinite { return real < 0 ? "-Infinity" : "Infinity" }
        let text = type == .float ? "\(Float(real))" : "\(real)"
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }

    /// Returns a date in ISO 8601; the seconds since 2001 of a date that the calendar does not know.
    package static func text(_ date: Date) -> String {
        (try? date.sourceValue(options: .default))?.string ?? "\(date.timeIntervalSinceReferenceDate) s after 2001-01-01T00:00:00Z"
    }

    /// Returns the media type of an image by its first bytes; nil for anything else.
    package static func imageType(_ data: Data) -> String? {
        let head = [UInt8](data.prefix(12))
        if head.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return "image/png" }
        if head.starts(with: [0xff, 0xd8, 0xff]) { return "image/jpeg" }
        if head.starts(with: Array("GIF87a".utf8)) || head.starts(with: Array("GIF89a".utf8)) { return "image/gif" }
        if head.count == 12, head.starts(with: Array("RIFF".utf8)), head[8...].elementsEqual("WEBP".utf8) { return "image/webp" }
        return nil
    }
}

/// A related object with the name that a reader knows it by.
package struct RelatedObject: Sendable, Hashable {
    package let reference: ObjectReference
    /// The display name: the first text that names it, otherwise its entity and id.
    package let name: String

    package init(reference: ObjectReference, name: String) { (self.reference, self.name) = (reference, name) }
}
