import Foundation
import PolyStoreCore
import PolyStoreFormats

import enum PolyStoreBackend.AttributeType

/// A value of an output: exact for programs, and as text for a reader.
struct Cell: Sendable {
    /// The exact value.
    var json: JSONValue
    /// The text in a table.
    var text: String
    var isNumber = false

    /// No value.
    static let null = Cell(json: .null, text: "–")

    var isNull: Bool { json.isNull }

    /// Returns whether two cells have the same exact value. Texts are equal if their bytes are; Swift takes other forms of a letter for the same text.
    func hasSameValue(as other: Cell) -> Bool { json == other.json && json.hasSameBytes(as: other.json) }

    init(json: JSONValue, text: String, isNumber: Bool = false) {
        (self.json, self.text, self.isNumber) = (json, text, isNumber)
    }

    init(_ text: String) { self.init(json: .string(text), text: text) }
    init(_ number: Int) { self.init(json: JSONValue(number), text: "\(number)", isNumber: true) }
    init(_ bool: Bool) { self.init(json: .bool(bool), text: "\(bool)") }
    init(_ date: Date) { self.init(.date(date)) }

    /// Creates the cell of a value of a store.
    /// - Parameter type: The type of the attribute, if the value is one of an attribute.
    init(_ value: QueryValue?, _ type: AttributeType? = nil) {
        guard let value else {
            self = .null
            return
        }
        switch value {
        case .bool(let bool): self.init(bool)
        case .integer(let integer): self.init(json: JSONValue(integer), text: "\(integer)", isNumber: true)
        case .unsigned(let integer): self.init(json: JSONValue(integer), text: "\(integer)", isNumber: true)
        case .real(let real): self = Self.real(real, type)
        case .text(let text): self = Self.text(text, type)
        case .date(let date): self = Self.exact(date, orElse: "\(date.timeIntervalSinceReferenceDate) s after 2001-01-01T00:00:00Z")
        case .data(let data):
            self.init(json: .string(data.base64EncodedString()), text: data.count == 1 ? "<1 byte>" : "<\(data.count) bytes>")
        case .uuid(let uuid): self.init(uuid.uuidString)
        case .url(let url): self.init(url.absoluteString)
        case .decimal(let decimal):
            self = Self.exact(decimal, orElse: "NaN")
            isNumber = true
        case .objectID(let id): self.init(json: JSONValue(id.rowID), text: "\(id)")
        }
    }

    private static func real(_ real: Double, _ type: AttributeType?) -> Cell {
        let json = type == .float ? JSONNumber(Float(real)) : JSONNumber(real)
        let text = json?.text ?? (real.isNaN ? "NaN" : real < 0 ? "-Infinity" : "Infinity")
        return Cell(json: json.map { .number($0) } ?? .string(text), text: text, isNumber: true)
    }

    private static func text(_ text: String, _ type: AttributeType?) -> Cell {
        if type == .json, let json = try? JSONValue(parsing: text) { return Cell(json: json, text: "\(json)") }
        return Cell(text)
    }

    private static func exact(_ value: some ConvertibleToSource, orElse text: String) -> Cell {
        guard let json = try? value.sourceValue(options: .default) else { return Cell(text) }
        return Cell(json: json, text: json.string ?? "\(json)")
    }
}

extension JSONValue {
    /// Returns whether all texts of two equal values have the same bytes.
    fileprivate func hasSameBytes(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.array(let left), .array(let right)): zip(left, right).allSatisfy { $0.hasSameBytes(as: $1) }
        case (.object(let left), .object(let right)):
            left.allSatisfy { name, value in
                right.first { $0.key.utf8.elementsEqual(name.utf8) }.map { value.hasSameBytes(as: $0.value) } ?? false
            }
        default: true
        }
    }
}
