import PolyStoreBackend

/// The identity of a store: its id (16 bytes), the hash of its model (8 bytes), and, unless the configuration is the default one, 01 and its name.
struct KeyValueStoreIdentity: Equatable {
    /// The store id as 32 hexadecimal digits.
    var storeID: String
    var configuration: String?
    /// The hash of the model as 16 hexadecimal digits.
    var schemaHash: String

    private static let fixedSize = 24

    init(storeID: String, configuration: String?, schemaHash: String) {
        self.storeID = storeID
        self.configuration = configuration
        self.schemaHash = schemaHash
    }

    /// - Returns: `nil` for invalid bytes.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= Self.fixedSize else { return nil }
        storeID = Self.digits(bytes[..<16])
        schemaHash = Self.digits(bytes[16..<Self.fixedSize])
        if bytes.count == Self.fixedSize { return }
        guard bytes[Self.fixedSize] == 1, let name = String(validating: bytes[(Self.fixedSize + 1)...], as: UTF8.self) else { return nil }
        configuration = name
    }

    var bytes: [UInt8] {
        Self.bytes(storeID, count: 16) + Self.bytes(schemaHash, count: 8) + (configuration.map { [1] + Array($0.utf8) } ?? [])
    }

    private static func digits(_ bytes: ArraySlice<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    private static func bytes(_ digits: String, count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in digits.unicodeScalars.lazy.compactMap({ UInt8(String($0), radix: 16) }) {
            if let first = high { bytes.append(first << 4 | digit) }
            high = high == nil ? digit : nil
        }
        return Array((bytes + Array(repeating: 0, count: count)).prefix(count))
    }
}
