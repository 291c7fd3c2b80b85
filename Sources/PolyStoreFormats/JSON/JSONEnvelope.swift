/// Parses the part of a JSON document that surrounds the array of records, byte by byte and in parts, and validates its grammar.
///
/// Memory use depends only on the nesting depth of the document.
struct JSONEnvelope {
    enum Event {
        /// All bytes were consumed.
        case none
        /// The next byte begins the first element of the array.
        case array
        case failure(String)
    }

    enum State {
        case value
        case firstElement
        case firstName
        case name
        case colon
        case afterValue
        case string(isName: Bool)
        case escape(isName: Bool)
        case hexadecimal(isName: Bool, left: Int)
        /// Inside a multibyte character, with the number of remaining bytes and the valid range of the next one.
        case utf8(isName: Bool, left: Int, low: UInt8, high: UInt8)
        case number(NumberState)
        case literal(StaticString, next: Int)
        case end
    }

    enum NumberState {
        case minus, zero, integer, point, fraction, exponent, sign, exponentDigits

        var isComplete: Bool {
            switch self {
            case .zero, .integer, .fraction, .exponentDigits: true
            case .minus, .point, .exponent, .sign: false
            }
        }
    }

    let path: [String]
    var state = State.value
    /// A Boolean value for each open container that indicates whether it is an object.
    var containers: [Bool] = []
    /// The number of matched names of the path to the current value.
    var matched = 0
    /// A Boolean value that indicates whether the next value is on the path.
    var isOnPath = true
    var foundArray = false
    /// The raw bytes of the current field name, while it may equal the next name of `path`; otherwise nil.
    var name: [UInt8]?

    init(path: [String]) { self.path = path }

    /// Processes bytes and returns the number of consumed bytes and the event that ended the processing.
    mutating func run(_ bytes: UnsafeBufferPointer<UInt8>) -> (used: Int, event: Event) {
        var index = 0
        while index < bytes.count {
            switch step(bytes[index]) {
            case .none: index += 1
            case .array: return (index + 1, .array)
            case .failure(let reason): return (index, .failure(reason))
            }
        }
        return (index, .none)
    }

    /// Returns an error description if the document must not end here, or nil.
    mutating func end() -> String? {
        if case .number(let number) = state, number.isComplete { endValue() }
        switch state {
        case .end where foundArray: return nil
        case .end: return "the document has no array at \(pathName)"
        case .value where containers.isEmpty: return "the document is empty: expected an array or an object"
        default: return "the document is cut off"
        }
    }

    var pathName: String { path.isEmpty ? "its root" : "'" + path.joined(separator: ".") + "'" }

    /// Continues after the array of records.
    mutating func leaveArray() {
        foundArray = true
        matched = max(0, path.count - 1)
        endValue()
    }

    mutating func endValue() {
        isOnPath = false
        state = containers.isEmpty ? .end : .afterValue
    }
}
