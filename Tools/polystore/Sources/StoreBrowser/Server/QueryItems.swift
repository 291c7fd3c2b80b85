/// The decoded items of the query of an address, or of the body of a form, in order.
struct QueryItems: Sendable, Equatable {
    private(set) var items: [(name: String, value: String)] = []

    init(_ items: [(name: String, value: String)] = []) { self.items = items }

    /// Decodes a query.
    /// - Throws: `BrowserError` for an escape that is not two hexadecimal digits, or bytes that are not UTF-8.
    init(decoding text: some StringProtocol) throws {
        for part in text.split(separator: "&", omittingEmptySubsequences: true) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            items.append((try Self.decoded(pair[0]), pair.count > 1 ? try Self.decoded(pair[1]) : ""))
        }
    }

    static func == (one: QueryItems, other: QueryItems) -> Bool {
        one.items.elementsEqual(other.items) { $0.name == $1.name && $0.value == $1.value }
    }

    /// The first value of a name; nil if there is none or it is empty.
    subscript(_ name: String) -> String? {
        get { items.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value } }
        set {
            let value = newValue.flatMap { $0.isEmpty ? nil : $0 }
            guard let value else { return items.removeAll { $0.name == name } }
            if let index = items.firstIndex(where: { $0.name == name }) { items[index].value = value } else { items.append((name, value)) }
        }
    }

    /// The values of a name in order, with the empty ones.
    func all(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// Returns whether a name occurs, also with an empty value.
    func contains(_ name: String) -> Bool { items.contains { $0.name == name } }

    /// Returns a copy in which names have these values; nil removes a name.
    func with(_ changes: [(String, String?)]) -> QueryItems {
        var result = self
        for (name, value) in changes { result[name] = value }
        return result
    }

    /// Returns a copy in which a name has these values only.
    func with(_ name: String, all values: [String]) -> QueryItems {
        var result = self
        result.items.removeAll { $0.name == name }
        result.items += values.map { (name, $0) }
        return result
    }

    /// Returns a copy without some names.
    func without(_ names: Set<String>) -> QueryItems { QueryItems(items.filter { !names.contains($0.name) }) }

    /// Returns a copy with further items at the end.
    func adding(_ items: [(name: String, value: String)]) -> QueryItems { QueryItems(self.items + items) }

    /// The first value of a name; empty if there is none or it has nothing but white space.
    func text(_ name: String) -> String { self[name].flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 } ?? "" }

    /// Returns the address of a path with these items.
    func address(_ path: String) -> String { items.isEmpty ? path : path + "?" + encoded }

    /// The items with everything escaped that is not a letter, a digit, or one of `-._~`.
    var encoded: String { items.map { Self.encoded($0.name) + "=" + Self.encoded($0.value) }.joined(separator: "&") }

    private static func encoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var result: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e: result.append(byte)
            default: result += [0x25, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func decoded(_ text: some StringProtocol) throws -> String {
        var (result, bytes): ([UInt8], _) = ([], Array(text.utf8)[...])
        while let byte = bytes.popFirst() {
            switch byte {
            case 0x2b: result.append(0x20)
            case 0x25:
                guard let high = digit(bytes.popFirst()), let low = digit(bytes.popFirst()) else { throw BrowserError.malformedAddress }
                result.append(high << 4 | low)
            default: result.append(byte)
            }
        }
        guard let decoded = String(validating: result, as: UTF8.self) else { throw BrowserError.malformedAddress }
        return decoded
    }

    private static func digit(_ byte: UInt8?) -> UInt8? {
        switch byte {
        case .some(let byte) where (0x30...0x39).contains(byte): byte - 0x30
        case .some(let byte) where (0x41...0x46).contains(byte): byte - 0x41 + 10
        case .some(let byte) where (0x61...0x66).contains(byte): byte - 0x61 + 10
        default: nil
        }
    }
}
