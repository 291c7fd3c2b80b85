import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

extension FieldText {
    /// A text that is not a value of the attribute: a sentence for the reader of the form.
    package struct Mistake: Error, Hashable, Sendable {
        package let message: String
    }

    /// Returns the value of a text. Spaces around anything but a text are ignored; the empty text is an empty text, no bytes, or null for any other type.
    /// - Throws: ``Mistake`` for a text that is not a value of the type.
    package func value(_ text: String) throws -> QueryValue? {
        if type == .string { return .text(text) }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.isEmpty { return type == .data ? .data(Data()) : nil }
        do { return try parsed(trimmed) } catch let mistake as Mistake { throw mistake } catch {
            throw Mistake(message: "\(Self.quoted(trimmed)) is not \(expected).")
        }
    }

    private func parsed(_ text: String) throws -> QueryValue {
        let (source, options) = (JSONValue.string(text), ConversionOptions.default)
        switch type {
        case .bool: return .bool(try Bool(source: source, options: options))
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32:
            let integer = try Int64(source: source, options: options)
            guard type.integerBounds?.contains(integer) ?? true else { throw Mistake(message: "\(integer) is not \(expected).") }
            return .integer(integer)
        case .uint64: return .unsigned(try UInt64(source: source, options: options))
        case .float: return .real(Double(try Float(source: source, options: options)))
        case .double: return .real(try Double(source: source, options: options))
        case .decimal: return .decimal(text == "NaN" ? .nan : try Decimal(source: source, options: options))
        case .date: return .date(try Date(source: source, options: options))
        case .string: return .text(text)
        case .url: return .url(try URL(source: source, options: options))
        case .json: return .text(try json(text))
        case .data: return .data(try bytes(text))
        case .uuid: return .uuid(try UUID(source: source, options: options))
        }
    }

    private func json(_ text: String) throws -> String {
        do { _ = try JSONValue(parsing: text) } catch let error as RecordError {
            throw Mistake(message: "The text is not JSON: \(error.reason).")
        }
        return text
    }

    private func bytes(_ text: String) throws -> Data {
        if text.lowercased().hasPrefix("base64:") {
            guard let data = Data(base64Encoded: text.dropFirst(7).filter { !$0.isWhitespace }) else {
                throw Mistake(
                    message: "The text after base64: is not base64. Write letters, digits, + and /, filled with = to a multiple of 4.")
            }
            return data
        }
        guard text.lowercased().hasPrefix("hex:") else { throw Mistake(message: "\(Self.quoted(text)) is not \(expected).") }
        let digits = text.dropFirst(4).filter { !$0.isWhitespace }.utf8.map { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else {
            throw Mistake(message: "The text after hex: is not an even number of digits from 0 to 9 and a to f.")
        }
        return Data(stride(from: 0, to: digits.count, by: 2).map { UInt8((digits[$0] ?? 0) << 4 | (digits[$0 + 1] ?? 0)) })
    }

    /// Returns the beginning of a text in quotation marks, for a message.
    static func quoted(_ text: String) -> String {
        let cut = text.prefix(40)
        return "\"\(escaped(String(cut)))\(cut.endIndex < text.endIndex ? "…" : "")\""
    }
}
