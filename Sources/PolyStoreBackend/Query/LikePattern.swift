/// A `LIKE` pattern: `?` matches one Unicode scalar, `*` any number of them, a backslash escapes the next scalar.
package struct LikePattern {
    /// A part of a pattern.
    package enum Element: Equatable {
        /// A scalar that matches itself.
        case scalar(Unicode.Scalar)
        /// `?` and `*`.
        case one, many
    }

    package let elements: [Element]

    package init(_ pattern: String) {
        var elements: [Element] = []
        var isEscaped = false
        for scalar in pattern.unicodeScalars {
            if isEscaped {
                elements.append(.scalar(scalar))
                isEscaped = false
                continue
            }
            switch scalar {
            case "\\": isEscaped = true
            case "?": elements.append(.one)
            case "*": if elements.last != .many { elements.append(.many) }
            default: elements.append(.scalar(scalar))
            }
        }
        // A trailing backslash is a literal backslash.
        if isEscaped { elements.append(.scalar("\\")) }
        self.elements = elements
    }

    /// The equivalent comparison that an index may serve; nil if there is none.
    package var simple: (operation: TextOperator?, text: String)? {
        let stars = elements.count { $0 == .many }
        guard !elements.contains(.one), stars <= 2 else { return nil }
        var text = ""
        for case .scalar(let scalar) in elements { text.unicodeScalars.append(scalar) }
        switch (elements.first == .many, elements.last == .many, stars) {
        case (_, _, 0): return (nil, text)
        case (true, true, 1): return (.contains, "")
        case (false, true, 1): return (.beginsWith, text)
        case (true, false, 1): return (.endsWith, text)
        case (true, true, 2): return (.contains, text)
        default: return nil
        }
    }

    /// Returns whether the whole text matches. Backtracks to the last star only, so that the time is at most the product of both lengths.
    package func matches(_ text: String) -> Bool {
        let scalars = Array(text.unicodeScalars)
        var (at, position) = (0, 0)
        var star: (at: Int, position: Int)?
        while at < scalars.count {
            if position < elements.count, elements[position] == .many {
                star = (at, position)
                position += 1
            } else if position < elements.count, elements[position] == .one || elements[position] == .scalar(scalars[at]) {
                at += 1
                position += 1
            } else if let last = star {
                star = (last.at + 1, last.position)
                (at, position) = (last.at + 1, last.position + 1)
            } else {
                return false
            }
        }
        while position < elements.count, elements[position] == .many { position += 1 }
        return position == elements.count
    }
}
