/// Reads a JSON document around the array that has the records, in parts and byte by byte, and checks its grammar.
///
/// The memory in use does not depend on the document, except for the nesting.
struct JSONEnvelope {
    enum Event {
        /// All bytes were read.
        case none
        /// The byte after these begins the first element of the array.
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
        /// More bytes of a character, of which the next is in a range.
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
    /// Whether each open container is an object.
    var containers: [Bool] = []
    /// The number of names of the path that lead to the current value.
    var matched = 0
    /// The next value is on the path.
    var isOnPath = true
    var foundArray = false
    /// The raw bytes of a name that may be on the path.
    var name: [UInt8]?

    init(path: [String]) { self.path = path }

    /// Reads bytes and returns how many were used, and why it stopped.
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

    /// Returns what is wrong if the document ends here, or nil.
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

    /// Continues after the array of the records.
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
