/// The entries of a form, by the names of properties. A property without an entry is not changed.
package struct FormInput: Sendable, Hashable {
    /// The entry of one property.
    package enum Entry: Sendable, Hashable {
        /// Null; for a to-one relationship no target.
        case null
        /// A text as ``FieldText`` reads it; for a to-one relationship the row id or the name of the target.
        case text(String)
        /// A text in which backslashes begin an escape; see ``FieldText/unescaped(_:)``.
        case escaped(String)
        /// The bytes of an uploaded file.
        case bytes([UInt8])
        /// The changes of a to-many relationship.
        case members(MemberChanges)
    }

    /// The changes of a to-many relationship. Targets are row ids or names.
    package struct MemberChanges: Sendable, Hashable {
        package var added: [String]
        package var removed: [String]
        /// The row ids of all targets in a new order, for an ordered relationship; nil keeps the order.
        package var order: [String]?

        package init(added: [String] = [], removed: [String] = [], order: [String]? = nil) {
            (self.added, self.removed, self.order) = (added, removed, order)
        }

        var isEmpty: Bool { added.isEmpty && removed.isEmpty && order == nil }
    }

    package var entries: [String: Entry]

    package init(_ entries: [String: Entry] = [:]) { self.entries = entries }

    // MARK: Names of inputs

    /// The kinds of inputs of a form. The name of an input is the raw value, followed by the name of the property.
    package enum Input: String, CaseIterable, Sendable {
        /// The text of an attribute, or the target of a to-one relationship.
        case value = "value:"
        /// The same in escaped form.
        case escaped = "escaped:"
        /// A checkbox whose presence means null.
        case null = "null:"
        /// The targets to add to a to-many relationship, one on each line.
        case add = "add:"
        /// The row id of a target to remove.
        case remove = "remove:"
        /// All row ids of an ordered relationship, separated by spaces.
        case order = "order:"

        package func name(_ property: String) -> String { rawValue + property }
    }

    /// Creates an input of the names and values that a browser sent, in which a name can occur several times. Names that are not of ``Input`` are ignored.
    ///
    /// Browsers send each line break as a carriage return and a newline; those of `value:` become newlines.
    package init(posted: [(name: String, value: String)]) {
        var (entries, members, nulls) = ([String: Entry](), [String: MemberChanges](), Set<String>())
        for (name, value) in posted {
            guard let input = Input.allCases.first(where: { name.hasPrefix($0.rawValue) }) else { continue }
            let property = String(name.dropFirst(input.rawValue.count))
            switch input {
            case .value: entries[property] = .text(Self.lines(value))
            case .escaped: entries[property] = .escaped(Self.lines(value))
            case .null: nulls.insert(property)
            case .add: members[property, default: MemberChanges()].added += Self.targets(value)
            case .remove: members[property, default: MemberChanges()].removed.append(value)
            case .order:
                members[property, default: MemberChanges()].order = value.split(whereSeparator: { $0 == " " || $0 == "," || $0.isNewline })
                    .map(String.init)
            }
        }
        // A page sends the inputs of each to-many relationship, also of those that its reader left alone.
        for (property, changes) in members where !changes.isEmpty { entries[property] = .members(changes) }
        for property in nulls { entries[property] = .null }
        self.entries = entries
    }

    private static func lines(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        var previous: Unicode.Scalar?
        for scalar in text.unicodeScalars {
            if scalar == "\r" { result.append("\n") } else if scalar != "\n" || previous != "\r" { result.append(scalar) }
            previous = scalar
        }
        return String(result)
    }

    private static func targets(_ text: String) -> [String] {
        lines(text).split(separator: "\n").map { $0.drop { $0 == " " } }.filter { !$0.isEmpty }.map(String.init)
    }
}
