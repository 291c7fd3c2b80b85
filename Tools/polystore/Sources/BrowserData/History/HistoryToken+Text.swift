import Foundation
import PolyStoreCore

extension HistoryToken {
    /// Creates the point after the entry at a position.
    init(_ storeID: String, position: Int64) throws {
        self = try JSONDecoder().decode(HistoryToken.self, from: JSONEncoder().encode([storeID: position]))
    }

    /// Reads a point that ``text`` has written; nil for another text.
    package init?(text: String) {
        let base = text.replacing("-", with: "+").replacing("_", with: "/")
        let padded = base + String(repeating: "=", count: (4 - base.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: padded), let token = try? JSONDecoder().decode(HistoryToken.self, from: data) else {
            return nil
        }
        self = token
    }

    /// The point as one word, which addresses and command lines contain.
    package var text: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return try encoder.encode(self).base64EncodedString().replacing("=", with: "").replacing("+", with: "-")
                .replacing("/", with: "_")
        }
    }
}
