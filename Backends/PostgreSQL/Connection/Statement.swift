import PolyStoreBackend

/// A type of PostgreSQL that parameters have.
struct ParameterType: Sendable, Hashable {
    /// The object id of the type, which is the same on every server.
    let oid: UInt32
    /// The object id of arrays of the type.
    let array: UInt32
    /// The name in SQL.
    let name: String

    static let bool = ParameterType(oid: 16, array: 1000, name: "boolean")
    static let bytes = ParameterType(oid: 17, array: 1001, name: "bytea")
    static let int8 = ParameterType(oid: 20, array: 1016, name: "bigint")
    static let int2 = ParameterType(oid: 21, array: 1005, name: "smallint")
    static let int4 = ParameterType(oid: 23, array: 1007, name: "integer")
    static let text = ParameterType(oid: 25, array: 1009, name: "text")
    static let float4 = ParameterType(oid: 700, array: 1021, name: "real")
    static let float8 = ParameterType(oid: 701, array: 1022, name: "double precision")
    static let numeric = ParameterType(oid: 1700, array: 1231, name: "numeric")
    static let uuid = ParameterType(oid: 2950, array: 2951, name: "uuid")
}

/// A value of a statement in PostgreSQL's binary format.
struct Parameter {
    let oid: UInt32
    /// The bytes; nil for null.
    let buffer: ByteBuffer?

    init(oid: UInt32, buffer: ByteBuffer?) {
        self.oid = oid
        self.buffer = buffer
    }

    private init(_ type: ParameterType, _ write: (ByteBuffer) -> Void) {
        let buffer = ByteBuffer(capacity: 16)
        write(buffer)
        self.init(oid: type.oid, buffer: buffer)
    }

    static func integer(_ value: Int64) -> Parameter { Parameter(.int8) { $0.append(value) } }
    static func small(_ value: Int32) -> Parameter { Parameter(.int4) { $0.append(value) } }
    static func bool(_ value: Bool) -> Parameter { Parameter(.bool) { $0.append(value ? 1 : 0 as UInt8) } }
    static func real(_ value: Double) -> Parameter { Parameter(.float8) { $0.append(value.bitPattern) } }
    static func unsigned(_ value: UInt64) -> Parameter { Parameter(.numeric) { Numeric.append(value, to: $0) } }

    /// A text, in the encoding of `NULFreeText`.
    static func text(_ value: String) -> Parameter {
        var value = value
        return Parameter(.text) { buffer in value.withUTF8 { buffer.appendNULFree(UnsafeRawBufferPointer($0)) } }
    }

    static func bytes(_ value: [UInt8]) -> Parameter {
        Parameter(.bytes) { buffer in value.withUnsafeBytes { buffer.append($0) } }
    }

    /// A UUID of 16 bytes.
    static func uuid(_ value: [UInt8]) -> Parameter {
        Parameter(.uuid) { buffer in value.withUnsafeBytes { buffer.append($0) } }
    }

    static func null(_ type: ParameterType) -> Parameter { Parameter(oid: type.oid, buffer: nil) }

    /// An array of integers.
    static func integers(_ values: some Collection<Int64>) -> Parameter {
        let array = ArrayParameter(.int8, capacity: values.count * 12)
        for value in values { array.append(size: 8) { $0.append(value) } }
        return array.parameter
    }
}

/// Builds an array of one dimension in PostgreSQL's binary format, element by element.
final class ArrayParameter {
    private let type: ParameterType
    private let buffer: ByteBuffer
    private(set) var count: Int32 = 0
    private var hasNull = false

    init(_ type: ParameterType, capacity: Int = 256) {
        self.type = type
        buffer = ByteBuffer(capacity: capacity + 20)
        // The number of dimensions, the flag for nulls, the type, the number of elements, the first index.
        for word in [1, 0, Int32(bitPattern: type.oid), 0, 1] { buffer.append(word) }
    }

    func appendNull() {
        appendElement { buffer in
            buffer.appendNull()
            return false
        }
    }

    /// Appends an element of a fixed size.
    func append(size: Int32, _ write: (ByteBuffer) -> Void) {
        count += 1
        buffer.append(size: size, write)
    }

    /// Appends an element whose size is known when it is written.
    func append(_ write: (ByteBuffer) -> Void) {
        count += 1
        buffer.append(sized: write)
    }

    /// Appends an element that a closure writes with its size, or as null.
    /// - Parameter write: Returns `false` for null.
    func appendElement(_ write: (ByteBuffer) throws -> Bool) rethrows {
        count += 1
        if try !write(buffer) { hasNull = true }
    }

    /// The finished array.
    var parameter: Parameter {
        if count == 0 {
            // An array without elements has no dimension.
            let empty = ByteBuffer(capacity: 12)
            for word in [0, 0, Int32(bitPattern: type.oid)] { empty.append(word) }
            return Parameter(oid: type.array, buffer: empty)
        }
        buffer.store(hasNull ? 1 : 0, at: 4)
        buffer.store(count, at: 12)
        return Parameter(oid: type.array, buffer: buffer)
    }
}

/// A statement with its parameters.
struct Statement {
    let sql: String
    /// The parameters; none if ``deferred`` encodes them.
    var parameters: [Parameter]
    /// The parameters of a large statement.
    let deferred: DeferredParameters?
    /// The rows that follow the statement, which is `COPY … FROM STDIN` then.
    let copied: CopiedRows?
    /// A Boolean value that indicates whether the connection keeps the parsed statement for later executions.
    let isPrepared: Bool

    /// A statement that is executed repeatedly with other parameters.
    init(_ sql: String, _ parameters: [Parameter] = []) {
        self.init(sql, parameters: parameters, isPrepared: true)
    }

    /// A statement whose parameters are encoded when it is sent.
    init(_ sql: String, _ deferred: DeferredParameters) {
        self.init(sql, deferred: deferred, isPrepared: true)
    }

    private init(
        _ sql: String, parameters: [Parameter] = [], deferred: DeferredParameters? = nil, copied: CopiedRows? = nil, isPrepared: Bool
    ) {
        self.sql = sql
        self.parameters = parameters
        self.deferred = deferred
        self.copied = copied
        self.isPrepared = isPrepared
    }

    /// A statement without parameters that is parsed each time: control of transactions, definitions of tables.
    static func once(_ sql: String) -> Statement { Statement(sql, isPrepared: false) }

    /// A statement that the rows of its table follow. It is executed outside of pipelines.
    static func copy(_ sql: String, _ rows: CopiedRows) -> Statement { Statement(sql, copied: rows, isPrepared: false) }

    /// The types of the parameters.
    var types: [UInt32] { deferred?.types ?? parameters.map(\.oid) }
}

/// Parameters that are encoded when their statement is sent, so that those of one statement at a time are in memory.
struct DeferredParameters {
    /// The types of the parameters.
    let types: [UInt32]
    /// Returns the parameters. An error ends the pipeline, and is thrown to its caller.
    let encode: () throws -> [Parameter]
}

/// The rows of a `COPY … FROM STDIN` in binary format.
struct CopiedRows {
    /// The number of columns of each row.
    let columnCount: Int16
    let count: Int
    /// Appends the values of a row, each with its size.
    let append: (_ row: Int, ByteBuffer) throws -> Void
}
