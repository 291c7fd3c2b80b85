/// Parses one JSON value from contiguous bytes, without recursion.
///
/// The bytes may be incomplete. The outcome depends only on the bytes, so a parse that needs more bytes can be repeated with more of them.
final class JSONParser {
    enum Outcome {
        /// A value and the offset after it.
        case value(JSONValue, end: Int)
        /// The bytes end inside the value.
        case needsMore
        case failure(Failure)
    }

    struct Failure {
        var code: RecordError.Code
        var reason: String
        /// The offset of the byte at which the error was detected.
        var offset: Int
        /// The path of the field.
        var field: String?
        /// The offset after the value, if its grammar is valid, so that only its contents are invalid and reading can continue there.
        var end: Int?
    }

    /// An open array or object.
    struct Container {
        var isObject: Bool
        /// The index of its first value in the stack; negative outside all containers.
        var start: Int
        /// The last field name, as long as the names are in the tree.
        var node: NameTree.Node?
        /// The names, if the tree does not contain them.
        var names: LooseNames?
    }

    /// The names of an object that are not in the tree.
    final class LooseNames {
        var list: [String]
        private var set: Set<String>

        init(_ list: [String]) {
            self.list = list
            set = Set(list)
        }

        /// Appends a name. Returns false if it is a duplicate.
        func append(_ name: String) -> Bool {
            list.append(name)
            return set.insert(name).inserted
        }
    }

    /// The maximum nesting depth.
    static let depthLimit = 512

    let tree = NameTree()
    var values = ValueStack()
    var outer: [Container] = []
    var scratch: [UInt8] = []
    /// The first error that does not end the parse.
    var pending: Failure?

    /// Parses the value that begins at `start` or after whitespace there.
    ///
    /// - Parameter isComplete: A Boolean value that indicates whether these are all remaining bytes.
    func parse(_ buffer: UnsafeBufferPointer<UInt8>, from start: Int, isComplete: Bool) -> Outcome {
        guard let bytes = buffer.baseAddress else {
            return isComplete ? .failure(Failure(code: .syntax, reason: "a value is missing", offset: 0)) : .needsMore
        }
        values.removeAll()
        outer.removeAll(keepingCapacity: true)
        pending = nil
        var cursor = JSONCursor(bytes: bytes, index: start, end: buffer.count, isComplete: isComplete)
        var current = Container(isObject: false, start: -1)
        do throws(JSONStop) {
            try run(&cursor, &current)
        } catch {
            let field = path(current)
            values.removeAll()
            if error.needsMore { return .needsMore }
            return .failure(Failure(code: error.code, reason: error.reason, offset: error.offset, field: field))
        }
        let result = values.pop(from: 0)[0]
        guard var pending else { return .value(result, end: cursor.index) }
        pending.end = cursor.index
        return .failure(pending)
    }

    private func run(_ cursor: inout JSONCursor, _ current: inout Container) throws(JSONStop) {
        next: while true {
            try cursor.skipWhitespace()
            switch cursor.byte {
            case UInt8(ascii: "\""): values.push(.string(try string(&cursor, current)))
            case UInt8(ascii: "{"):
                try open(&current, isObject: true, &cursor)
                if cursor.byte != UInt8(ascii: "}") {
                    try name(&cursor, &current)
                    continue next
                }
                close(&current, &cursor)
            case UInt8(ascii: "["):
                try open(&current, isObject: false, &cursor)
                if cursor.byte != UInt8(ascii: "]") { continue next }
                close(&current, &cursor)
            case UInt8(ascii: "-"), 48...57: values.push(.number(try number(&cursor)))
            case UInt8(ascii: "t"): values.push(try literal("true", .bool(true), &cursor))
            case UInt8(ascii: "f"): values.push(try literal("false", .bool(false), &cursor))
            case UInt8(ascii: "n"): values.push(try literal("null", .null, &cursor))
            default: throw cursor.unexpected("a value")
            }
            while current.start >= 0 {
                try cursor.skipWhitespace()
                let byte = cursor.byte
                if byte == UInt8(ascii: ",") {
                    cursor.index &+= 1
                    if current.isObject {
                        try cursor.skipWhitespace()
                        try name(&cursor, &current)
                    }
                    continue next
                }
                guard byte == (current.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) else {
                    throw cursor.unexpected(current.isObject ? "',' or '}'" : "',' or ']'")
                }
                close(&current, &cursor)
            }
            return
        }
    }

    /// Opens a container and advances to the first byte inside it.
    @inline(__always)
    private func open(_ current: inout Container, isObject: Bool, _ cursor: inout JSONCursor) throws(JSONStop) {
        guard outer.count < Self.depthLimit else {
            throw JSONStop(code: .limit, reason: "more than \(Self.depthLimit) nested arrays and objects", offset: cursor.index)
        }
        outer.append(current)
        current = Container(isObject: isObject, start: values.count, node: isObject ? tree.root : nil)
        cursor.index &+= 1
        try cursor.skipWhitespace()
    }

    /// Closes a container at its closing bracket and combines its values.
    @inline(__always)
    private func close(_ current: inout Container, _ cursor: inout JSONCursor) {
        cursor.index &+= 1
        let elements = values.pop(from: current.start)
        if !current.isObject {
            values.push(.array(elements))
        } else if let names = current.names {
            values.push(.object(JSONObject(names: FieldNames(names.list), values: elements)))
        } else {
            values.push(.object(JSONObject(names: current.node.unsafelyUnwrapped.fieldNames, values: elements)))
        }
        current = outer.removeLast()
    }
}
