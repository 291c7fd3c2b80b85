import PolyStoreBackend

/// A record layout that an entity had before a migration, and the origin of each field of its current layout.
///
/// A migration does not rewrite the records of a carried entity. The header of a record contains its layout number, and a reader translates records of old
/// layouts into the current one.
final class OldLayout: Sendable {
    /// The types of the old fields, by field index.
    let types: [AttributeType]
    /// The origin of each field of the current layout, by field index. Source fields are fields of this old layout.
    let fields: [SchemaChange.FieldSource]
    let layout: RecordLayout

    /// The translation steps of the current layout's fields, in field order. Immutable from init to deinit, like the bytes of constants.
    private nonisolated(unsafe) let steps: UnsafeMutableBufferPointer<Step>
    private nonisolated(unsafe) let constants: UnsafeMutableRawBufferPointer

    /// The translation of one field. Holds no reference-counted values, because it runs for every field of every record.
    private enum Step {
        case integer(Int64)
        case real(Double)
        case bytes(UnsafeRawBufferPointer)
        case null
        /// A copy of the old field. If that is null, the next step applies instead.
        case copiedInteger(Int)
        case copiedReal(Int)
        case copiedBytes(Int)
    }

    init(_ entityName: String, types: [AttributeType], fields: [SchemaChange.FieldSource]) {
        self.types = types
        self.fields = fields
        layout = RecordLayout(entityName: entityName, types: types)
        let values: [(old: Int?, value: Value)] = fields.map { source in
            switch source {
            case .constant(let value): (nil, value)
            case .field(let old, let replacement): (old, replacement)
            }
        }
        constants = .allocate(byteCount: max(values.reduce(0) { $0 + $1.value.byteCount }, 1), alignment: 1)
        steps = .allocate(capacity: 2 * fields.count)
        var offset = 0
        var count = 0
        func append(_ step: Step) {
            steps.initializeElement(at: count, to: step)
            count += 1
        }
        func constant(_ bytes: some Collection<UInt8>) -> Step {
            let end = offset + bytes.count
            constants[offset..<end].copyBytes(from: bytes)
            defer { offset = end }
            return .bytes(UnsafeRawBufferPointer(rebasing: constants[offset..<end]))
        }
        // Two steps per field: the copy and the replacement of null. A constant occupies both.
        for (old, value) in values {
            let fallback: Step =
                switch value {
                case .null: .null
                case .integer(let number): .integer(number)
                case .real(let number): .real(number)
                case .text(let text): constant(text.utf8)
                case .blob(let blob): constant(blob)
                }
            switch old.map({ ($0, types[$0].physical) }) {
            case (let old, .integer)?: append(.copiedInteger(old))
            case (let old, .real)?: append(.copiedReal(old))
            case (let old, _)?: append(.copiedBytes(old))
            case nil: append(fallback)
            }
            append(fallback)
        }
    }

    deinit {
        steps.deallocate()
        constants.deallocate()
    }

    /// Returns this layout after one more migration.
    /// - Parameter next: The origin of the next layout's fields in the current fields.
    func followed(by next: [SchemaChange.FieldSource], _ entityName: String) -> OldLayout {
        let composed: [SchemaChange.FieldSource] = next.map { source in
            guard case .field(let fieldIndex, let replacement) = source else { return source }
            switch fields[fieldIndex] {
            case .constant(let value): return .constant(value.isNull ? replacement : value)
            // An earlier migration has already replaced null.
            case .field(let old, let earlier): return .field(old, replacingNullWith: earlier.isNull ? replacement : earlier)
            }
        }
        return OldLayout(entityName, types: types, fields: composed)
    }

    /// Builds a record of the current layout at the end of an arena.
    /// - Parameter chunked: Returns the bytes of an old field that is stored in chunks, and `nil` for every other field; `nil` if no field is chunked.
    /// - Returns: the record, which is valid until the arena grows.
    func translate(
        _ record: RecordView, _ entity: Entity, into arena: RecordArena, _ chunked: ((_ field: Int) throws -> [UInt8]?)? = nil
    ) throws -> RecordView {
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        for field in 0..<fields.count {
            switch steps[2 &* field] {
            case .copiedInteger(let old) where !record.isNull(old): builder.setInteger(field, record.integer(old))
            case .copiedReal(let old) where !record.isNull(old): builder.setReal(field, record.real(old))
            case .copiedBytes(let old) where !record.isNull(old):
                if let whole = try chunked?(old) {
                    whole.withUnsafeBytes { builder.setBytes(field, $0) }
                } else {
                    builder.setBytes(field, record.bytes(old))
                }
            default:
                switch steps[2 &* field &+ 1] {
                case .integer(let value): builder.setInteger(field, value)
                case .real(let value): builder.setReal(field, value)
                case .bytes(let bytes): builder.setBytes(field, bytes)
                default: break
                }
            }
        }
        return try builder.finishedView()
    }

    // MARK: Metadata

    /// The encoded layout: the names of the types, then the origin of each current field: 0 and a value for a constant; 1, the old field, u16, and the value
    /// that replaces null.
    var bytes: [UInt8] {
        var writer = MetadataWriter()
        writer.append(types) { $0.append($1.rawValue) }
        writer.append(fields) { writer, source in
            switch source {
            case .constant(let value):
                writer.append(UInt8(0))
                writer.append(value)
            case .field(let old, let replacement):
                writer.append(UInt8(1))
                writer.append(UInt16(truncatingIfNeeded: old))
                writer.append(replacement)
            }
        }
        return writer.bytes
    }

    /// - Returns: `nil` for invalid bytes.
    convenience init?(_ entityName: String, _ bytes: [UInt8]) {
        var reader = MetadataReader(bytes)
        guard let types = reader.list({ $0.text().flatMap(AttributeType.init) }) else { return nil }
        let fields: [SchemaChange.FieldSource]? = reader.list { reader in
            switch reader.number(UInt8.self) {
            case 0: return reader.value().map { .constant($0) }
            case 1:
                guard let old: UInt16 = reader.number(), let replacement = reader.value(), old < types.count else { return nil }
                return .field(Int(old), replacingNullWith: replacement)
            default: return nil
            }
        }
        guard let fields, reader.isAtEnd else { return nil }
        self.init(entityName, types: types, fields: fields)
    }

    /// Returns whether the layout can be translated into the records of an entity.
    func fits(_ entity: Entity) -> Bool {
        guard fields.count == entity.fields.count else { return false }
        return zip(entity.fields, fields).allSatisfy { field, source in
            switch source {
            case .constant(let value): field.accepts(value)
            case .field(let old, let replacement): field.type.contains(valuesOf: types[old]) && field.accepts(replacement)
            }
        }
    }
}

extension Value {
    /// The number of bytes of a text or data value.
    fileprivate var byteCount: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .blob(let blob): blob.count
        default: 0
        }
    }
}

extension Field {
    /// Returns whether a value is valid for the field: null, or of the field's physical type and one of its values.
    func accepts(_ value: Value) -> Bool {
        switch (value, type.physical) {
        case (.null, _): true
        case (.integer(let number), .integer): type.integerBounds?.contains(number) ?? true
        case (.real, .real), (.text, .text): true
        case (.blob(let bytes), .blob): type != .uuid || bytes.count == 16
        default: false
        }
    }
}
