import PolyStoreCore
import PolyStoreFormats

/// A difference of one object.
struct ObjectDifference {
    /// A kind of differences.
    enum Kind: String {
        case added, removed, changed

        var mark: String {
            switch self {
            case .added: "+"
            case .removed: "-"
            case .changed: "~"
            }
        }
    }

    let kind: Kind
    let entity: String
    /// The object as a reader knows it: its unique id, or its row id.
    let name: String
    /// The values, by property: that before is nil for an added object and for a value that was not recorded, that after for a removed object.
    let values: [(property: String, old: Cell?, new: Cell?)]
}

/// The output of differences, which counts them.
final class DifferenceOutput: @unchecked Sendable {  // One thread at a time writes.
    private let isText: Bool
    /// A Boolean value that indicates whether the schemas differ.
    private(set) var hasSchemaDifferences = false
    private(set) var counts: [ObjectDifference.Kind: Int] = [:]

    init(isText: Bool) { self.isText = isText }

    var total: Int { counts.values.reduce(0, +) }

    func write(_ difference: ObjectDifference) throws {
        counts[difference.kind, default: 0] += 1
        try StandardOutput.shared.write((isText ? text(difference) : "\(JSONValue(json(difference)))") + "\n")
    }

    /// Writes a sentence about the schemas.
    func write(schema sentence: String) throws {
        hasSchemaDifferences = true
        let json = JSONObject([("kind", "schema"), ("difference", JSONValue(sentence))])
        try StandardOutput.shared.write((isText ? "schema: \(DisplayText(sentence).text)" : "\(JSONValue(json))") + "\n")
    }

    private func text(_ difference: ObjectDifference) -> String {
        let values = difference.values.map { property, old, new in
            let name = DisplayText(property).text
            let (before, after) = (old.map { DisplayText($0.text).text }, new.map { DisplayText($0.text).text })
            switch (difference.kind, before, after) {
            case (.changed, let before?, let after?): return "\(name): \(before) → \(after)"
            case (.changed, nil, let after?): return "\(name): → \(after)"
            case (_, let before, let after): return "\(name): \(after ?? before ?? "–")"
            }
        }
        return "\(difference.kind.mark) \(difference.entity) \(DisplayText(difference.name).text)"
            + values.map { "\n    \($0)" }.joined()
    }

    private func json(_ difference: ObjectDifference) -> JSONObject {
        var fields: [(String, JSONValue)] = [
            ("kind", JSONValue(difference.kind.rawValue)), ("entity", JSONValue(difference.entity)), ("object", JSONValue(difference.name)),
        ]
        if difference.kind != .added {
            fields.append(
                ("old", JSONValue(JSONObject(difference.values.compactMap { value in value.old.map { (value.property, $0.json) } }))))
        }
        if difference.kind != .removed {
            fields.append(
                ("new", JSONValue(JSONObject(difference.values.compactMap { value in value.new.map { (value.property, $0.json) } }))))
        }
        return JSONObject(fields)
    }

    /// A line with the numbers of differences.
    var summary: String {
        let parts = [ObjectDifference.Kind.added, .removed, .changed].map { "\((counts[$0] ?? 0).grouped) \($0.rawValue)" }
        return parts.joined(separator: ", ") + "."
    }
}
