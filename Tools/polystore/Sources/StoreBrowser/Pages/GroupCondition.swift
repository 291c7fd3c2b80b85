import BrowserData

/// The condition that selects the objects of a group.
enum GroupCondition {
    /// Returns the condition for one value that defines a group; nil if its text does not determine the value.
    static func text(_ term: String, _ value: BrowserValue) -> String? {
        switch value.kind {
        case .null: "\(term) == NULL"
        case .number: value.number.flatMap { $0.isFinite ? "\(term) == \(value.text)" : nil }
        case .bool: "\(term) == \(value.text == "true" ? "TRUE" : "FALSE")"
        case .text, .url: value.isCut ? nil : "\(term) == '\(value.text.escapedForText)'"
        case .uuid: "\(term) == CAST('\(value.text)', 'NSUUID')"
        default: nil
        }
    }
}
