import PolyStoreBackend
import PolyStoreKernel

/// A unique id in the form that stores compare: text by its bytes, −0 as 0.
@usableFromInline
package enum ImportKey {
    case integer(Int64)
    case text(String)
    case other(Value)
    case compound([Value])

    init(_ value: Value) {
        switch value {
        case .integer(let value): self = .integer(value)
        case .text(let value): self = .text(value)
        default: self = .other(value)
        }
    }

    package init(_ values: [Value]) { self = values.count == 1 ? ImportKey(values[0]) : .compound(values) }

    /// The value of the first field of the id.
    var firstValue: Value {
        switch self {
        case .integer(let value): .integer(value)
        case .text(let value): .text(value)
        case .other(let value): value
        case .compound(let values): values[0]
        }
    }

    /// Returns whether the id is a text with the given bytes.
    func isText(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard case .text(let text) = self else { return false }
        return text.utf8.withContiguousStorageIfAvailable { Order.of(UnsafeRawBufferPointer($0), bytes) == 0 }
            ?? text.utf8.elementsEqual(bytes)
    }

    /// The values of the id, one per field.
    var values: [Value] {
        switch self {
        case .integer(let value): [.integer(value)]
        case .text(let value): [.text(value)]
        case .other(let value): [value]
        case .compound(let values): values
        }
    }
}

extension ImportKey: Hashable {
    @usableFromInline
    package static func == (left: ImportKey, right: ImportKey) -> Bool {
        switch (left, right) {
        case (.integer(let first), .integer(let second)): first == second
        case (.text(let first), .text(let second)): Order.of(first, second) == 0
        case (.other(let first), .other(let second)): first == second
        case (.compound(let first), .compound(let second)): first == second
        default: false
        }
    }

    @usableFromInline
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .integer(let value): hasher.combine(value)
        case .text(var value): value.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .other(let value): hasher.combine(value)
        case .compound(let values): hasher.combine(values)
        }
    }
}

extension ImportKey: CustomStringConvertible {
    @usableFromInline
    package var description: String {
        func text(_ value: Value) -> String {
            switch value {
            case .null: "nil"
            case .integer(let value): "\(value)"
            case .real(let value): "\(value)"
            case .text(let value): "\"\(value.count > 80 ? value.prefix(80) + "…" : value)\""
            case .blob(let bytes): "<\(bytes.count) bytes>"
            }
        }
        let values = values
        return values.count == 1 ? text(values[0]) : "(" + values.map(text).joined(separator: ", ") + ")"
    }
}
