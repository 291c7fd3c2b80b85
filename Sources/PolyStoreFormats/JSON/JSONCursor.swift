/// Ends a parse because the bytes are incomplete or not valid JSON.
struct JSONStop: Error {
    var needsMore = false
    var code = RecordError.Code.syntax
    var reason = ""
    var offset = 0
}

/// A position in the bytes of a value.
struct JSONCursor {
    let bytes: UnsafePointer<UInt8>
    var index: Int
    let end: Int
    /// A Boolean value that indicates whether these are all remaining bytes.
    let isComplete: Bool

    /// The current byte. `index` is less than `end`.
    @inline(__always)
    var byte: UInt8 { bytes[index] }

    /// Moves to the next byte that is not whitespace.
    @inline(__always)
    mutating func skipWhitespace() throws(JSONStop) {
        while index < end {
            let byte = bytes[index]
            if byte > 0x20 || !(byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09) { return }
            index &+= 1
        }
        throw cutOff
    }

    /// The error for reaching the end of the bytes.
    var cutOff: JSONStop {
        isComplete ? JSONStop(reason: "the value is cut off", offset: end) : JSONStop(needsMore: true)
    }

    func unexpected(_ expected: String) -> JSONStop {
        JSONStop(reason: "expected \(expected), found \(Self.name(of: byte))", offset: index)
    }

    static func name(of byte: UInt8) -> String {
        switch byte {
        case 0x21...0x7e: "'\(Character(Unicode.Scalar(byte)))'"
        case 0x20: "a space"
        default: "the byte 0x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }
    }
}
