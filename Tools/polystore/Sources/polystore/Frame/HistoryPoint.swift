import BrowserData
import Foundation
import PolyStoreCore
import PolyStoreFormats

/// A point in the history as the user names it: a token that a command printed, or a date.
enum HistoryPoint {
    case token(HistoryToken)
    case date(Date)

    init(_ text: String, option: String) throws {
        if let token = HistoryToken(text: text) {
            self = .token(token)
        } else if text.wholeMatch(of: /\d{4}-\d\d-\d\d([T ].*)?/) != nil, let date = try? DateFormats.default.date(from: .string(text)) {
            self = .date(date)
        } else {
            throw ToolError(
                .usage,
                "\(option) \"\(text)\" is neither a token that history printed nor a date such as 2026-01-31 or 2026-01-31T08:00:00Z.")
        }
    }
}

/// The information of a token about commits that were not recorded, read from the encoded token.
struct RecordedPoint {
    /// The version of the store at the token; 0 if the token does not have it.
    let version: Int64
    /// Whether unrecorded commits precede the token, which a filter has hidden.
    let isMarked: Bool

    init(_ token: HistoryToken?, _ store: PersistentStore) {
        let values = (try? JSONDecoder().decode([String: Int64].self, from: JSONEncoder().encode(token))) ?? [:]
        let key = "\(store.storeID)@\(token?.position(in: store.storeID) ?? 0)#"
        (version, isMarked) = (values[key + "version"] ?? 0, values[key + "unrecorded"] != nil)
    }
}

extension OpenStore {
    /// Returns the error for a store without a history.
    func withoutHistory() -> ToolError {
        ToolError(
            .nothingFound,
            "\(location.name) has no history. A program records one if it opens the store with addStore(_:history:).")
    }

    /// Returns whether commits of the store were recorded.
    func hasHistory() async throws -> Bool { try await stack.historyToken().position(in: store.storeID) ?? 0 > 0 }

    /// Returns the cell of a property's value.
    func cell(_ value: QueryValue?, _ property: String, of entityName: String) -> Cell {
        let entity = schema.entities.first { entity in
            entity.name == entityName || entity.hierarchy?.subentities.contains { $0.name == entityName } ?? false
        }
        guard case .attribute(let attribute)? = entity?.properties.first(where: { $0.name == property }) else { return Cell(value) }
        return Cell(value, attribute.type)
    }
}
