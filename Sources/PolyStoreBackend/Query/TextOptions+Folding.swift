import Foundation

extension TextOptions {
    /// A text without what does not count: lower-case for `[c]`, without accents and other marks for `[d]`, as Foundation folds them, the same in
    /// every language. Folded texts are compared byte by byte.
    public func fold(_ text: String) -> String {
        if isEmpty { return text }
        // Nothing in ASCII has a mark.
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return contains(.caseInsensitive) ? text.lowercased() : text }
        var options: String.CompareOptions = []
        if contains(.caseInsensitive) { options.insert(.caseInsensitive) }
        if contains(.diacriticInsensitive) { options.insert(.diacriticInsensitive) }
        return text.folding(options: options, locale: nil)
    }
}

/// A pattern of `LIKE`: `?` is one Unicode scalar, `*` any number of them, a backslash takes what follows as it is.
struct LikePattern {
    private enum Element: Equatable {
        case scalar(Unicode.Scalar)
        case one, many
    }

    private let elements: [Element]

    init(_ pattern: String) {
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
        // A backslash at the end stands for itself.
        if isEscaped { elements.append(.scalar("\\")) }
        self.elements = elements
    }

    /// What the pattern says in simpler terms, which an index may serve; nil where there are none.
    var simple: (operation: TextOperator?, text: String)? {
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

    /// Whether the whole text fits. Steps back to the last star only, which is enough, so that time is at most the product of both lengths.
    func matches(_ text: String) -> Bool {
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

/// A pattern of `MATCHES`: a regular expression as ICU has them, that the whole text has to satisfy.
struct RegularExpression {
    private let expression: NSRegularExpression

    /// - Throws: `invalidPredicate`.
    init(_ pattern: String) throws {
        do {
            // By itself first: what is put around it must not mend it. Empty, which Foundation refuses, it is satisfied by the empty text.
            if !pattern.isEmpty { _ = try NSRegularExpression(pattern: pattern) }
            expression = try NSRegularExpression(pattern: "\\A(?:\(pattern))\\z")
        } catch {
            throw StoreError(.invalidPredicate, "\"\(pattern)\" is no regular expression.", underlying: "\(error)")
        }
    }

    func matches(_ text: String) -> Bool {
        expression.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }
}
