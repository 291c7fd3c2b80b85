import BrowserData

/// The condition that selects the objects of a group.
enum GroupCondition {
    /// Returns the condition for one value that defines a group; nil if the format language has no exact form of it.
    static func text(_ term: String, _ value: BrowserValue, _ model: EntityModel) -> String? {
        switch value.kind {
        case .null: "\(term) == NULL"
        case .number: value.number.map { $0.isFinite ? "\(term) == \(value.text)" : nil } ?? nil
        case .bool: "\(term) == \(value.text)"
        case .text, .url: value.isCut ? nil : "\(term) == \(quoted(value.text))"
        case .uuid: "\(term) == \(quoted(value.text))"
        default: nil
        }
    }

    /// Returns a text as the format language has it in quotes.
    static func quoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
    }
}
