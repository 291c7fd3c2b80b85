import SwiftSyntax

/// A key path in `#Index` or `#Search`: a property of the class, or a field of its `Codable` value.
struct IndexedPath: Hashable {
    /// The name of the property of the class, and later its stored name.
    var property: String
    /// The names of the properties behind it.
    let keys: [String]
    /// The property of the class as code.
    let first: String
    /// The whole path as code.
    let path: String

    /// - Returns: nil for subscripts and other components than properties.
    init?(_ components: KeyPathComponentListSyntax) {
        var names: [String] = []
        var path = ""
        for component in components {
            switch component.component {
            case .property(let property):
                let name = property.declName.baseName.text
                path += names.isEmpty ? name : ".\(name)"
                names.append(name)
            case .optional(let optional) where !names.isEmpty: path += optional.questionOrExclamationMark.text
            default: return nil
            }
        }
        guard let first = names.first else { return nil }
        property = first.trimmingBackticks
        keys = names.dropFirst().map(\.trimmingBackticks)
        self.first = first
        self.path = path
    }
}
