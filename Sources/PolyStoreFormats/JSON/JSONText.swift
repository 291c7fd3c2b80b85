/// Writes values as compact JSON.
enum JSONText {
    private enum Frame {
        case array([JSONValue], next: Int)
        case object(JSONObject, next: Int)
    }

    static func compact(_ value: JSONValue) -> String {
        var bytes: [UInt8] = []
        _ = append(value, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Appends a value and returns its nesting depth, 0 for a scalar. Not recursive, so any depth is safe on a small stack.
    static func append(_ value: JSONValue, to bytes: inout [UInt8]) -> Int {
        var stack: [Frame] = []
        var depth = 0
        begin(value, &stack, &bytes)
        while let frame = stack.popLast() {
            depth = max(depth, stack.count + 1)
            switch frame {
            case .array(let elements, let next):
                guard next < elements.count else {
                    bytes.append(UInt8(ascii: "]"))
                    continue
                }
                if next > 0 { bytes.append(UInt8(ascii: ",")) }
                stack.append(.array(elements, next: next + 1))
                begin(elements[next], &stack, &bytes)
            case .object(let object, let next):
                guard next < object.count else {
                    bytes.append(UInt8(ascii: "}"))
                    continue
                }
                if next > 0 { bytes.append(UInt8(ascii: ",")) }
                append(object.fieldNames.list[next], to: &bytes)
                bytes.append(UInt8(ascii: ":"))
                stack.append(.object(object, next: next + 1))
                begin(object.fieldValues[next], &stack, &bytes)
            }
        }
        return depth
    }

    /// Appends a scalar, or the opening bracket of a container that is pushed onto the stack.
    private static func begin(_ value: JSONValue, _ stack: inout [Frame], _ bytes: inout [UInt8]) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: value ? "true".utf8 : "false".utf8)
        case .number(let number): bytes.append(contentsOf: number.text.utf8)
        case .string(let text): append(text, to: &bytes)
        case .array(let elements):
            bytes.append(UInt8(ascii: "["))
            stack.append(.array(elements, next: 0))
        case .object(let object):
            bytes.append(UInt8(ascii: "{"))
            stack.append(.object(object, next: 0))
        }
    }

    /// Appends a string with quotes and escapes.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { utf8 in
            var start = 0
            for index in 0..<utf8.count {
                let byte = utf8[index]
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
                bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start..<index]))
                appendEscape(byte, &bytes)
                start = index + 1
            }
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: utf8[start...]))
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func appendEscape(_ byte: UInt8, _ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        case 0..<0x20:
            bytes.append(contentsOf: "u00".utf8)
            bytes.append(byte < 0x10 ? UInt8(ascii: "0") : UInt8(ascii: "1"))
            bytes.append(Array("0123456789abcdef".utf8)[Int(byte & 15)])
        default: bytes.append(byte)
        }
    }
}
