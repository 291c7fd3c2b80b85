import PolyStoreBackend

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Who a store is, as JSON in its metadata.
struct StoreIdentity: Codable {
    var storeID: String
    var configuration: String?
    var schemaHash: String

    init(storeID: String, configuration: String?, schemaHash: String) {
        self.storeID = storeID
        self.configuration = configuration
        self.schemaHash = schemaHash
    }

    /// - Returns: nil for bytes that are none.
    init?(_ bytes: [UInt8]) {
        guard let found = try? JSONDecoder().decode(StoreIdentity.self, from: Data(bytes)) else { return nil }
        self = found
    }

    var bytes: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Strings only: this cannot fail.
        return (try? encoder.encode(self)).map { [UInt8]($0) } ?? []
    }
}
