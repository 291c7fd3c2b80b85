internal import Foundation

/// A message of the protocol of PostgreSQL.
struct Message {
    /// The type; 0 for the first message of a client.
    let type: UInt8
    /// The whole message.
    let bytes: [UInt8]

    /// Returns one of the texts at the beginning of the message, which each end with NUL.
    func text(_ index: Int) -> String {
        let parts = bytes.dropFirst(5).split(separator: 0, maxSplits: index + 1, omittingEmptySubsequences: false)
        return index < parts.count ? String(decoding: parts[index], as: UTF8.self) : ""
    }

    init(type: UInt8, bytes: [UInt8]) { (self.type, self.bytes) = (type, bytes) }

    private init(_ type: Character, _ content: [UInt8]) {
        self.type = type.asciiValue ?? 0
        let count = UInt32(content.count + 4)
        bytes = [self.type] + (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) } + content
    }

    /// Messages that let the server answer with an error in place of the response to the next statement.
    /// - Parameter isQuery: Whether the statement is one of the simple protocol, which the messages replace.
    static func failure(_ state: String, isQuery: Bool) -> [UInt8] {
        let sql = "DO 'BEGIN RAISE EXCEPTION ''refused by the proxy'' USING ERRCODE = ''\(state)''; END'"
        if isQuery { return Message("Q", Array(sql.utf8) + [0]).bytes }
        let parse = Message("P", [0] + Array(sql.utf8) + [0, 0, 0])
        let bind = Message("B", [0, 0, 0, 0, 0, 0, 0, 0])
        return parse.bytes + bind.bytes + Message("E", [0, 0, 0, 0, 0]).bytes
    }
}

/// Divides the bytes of one direction of a connection into messages.
struct MessageBuffer {
    private var bytes: [UInt8] = []
    private var hasStartup: Bool

    /// - Parameter hasStartup: Whether the first message has no type, as that of a client.
    init(hasStartup: Bool) { self.hasStartup = hasStartup }

    /// Reads what arrives next.
    /// - Returns: `false` at the end.
    mutating func fill(from source: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(source, &buffer, buffer.count)
        guard count > 0 else { return false }
        bytes += buffer[..<count]
        return true
    }

    /// Removes and returns the first message if it is complete.
    mutating func next() -> Message? {
        let start = hasStartup ? 0 : 1
        guard bytes.count >= start + 4 else { return nil }
        let count = start + bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard bytes.count >= count else { return nil }
        let message = Message(type: hasStartup ? 0 : bytes[0], bytes: Array(bytes[..<count]))
        bytes.removeFirst(count)
        hasStartup = false
        return message
    }
}
