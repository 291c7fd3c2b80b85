import PolyStoreBackend

/// A mistake in a condition that a user typed.
package struct FilterMistake: Error, Sendable, Hashable {
    /// The mistake and its correction, in one sentence without the position.
    package let message: String
    /// The position of the mistake in the condition, in characters from its beginning; nil if the error names none.
    package let offset: Int?
    /// The number of characters that are wrong, at least 1.
    package let length: Int

    package init(message: String, offset: Int? = nil, length: Int = 1) {
        (self.message, self.offset, self.length) = (message, offset, length)
    }

    /// Reads the place from an error that can be about another text too, such as a column.
    /// - Returns: nil for an error that does not point into this text.
    package init?(_ error: any Error, pointingInto text: String) {
        guard let error = error as? StoreError, error.code == .invalidPredicate, error.message.contains(/\ \(at \d+:\d+\)\n/) else {
            return nil
        }
        // The line with the mistake, which is shortened at its ends, is above the caret.
        var line = error.message.split(separator: "\n").dropLast().last ?? ""
        if line.hasPrefix("…") { line.removeFirst() }
        if line.hasSuffix("…") { line.removeLast() }
        guard !line.isEmpty, text.contains(line) else { return nil }
        self.init(error, in: text)
    }

    /// Reads the place from an error of the library.
    /// - Returns: nil for an error that is not about a condition.
    package init?(_ error: any Error, in filter: String) {
        guard let error = error as? StoreError, error.code == .invalidPredicate else { return nil }
        guard let match = error.message.firstMatch(of: /\ \(at (\d+):(\d+)\)\n/), let line = Int(match.1), let column = Int(match.2) else {
            self.init(message: error.message)
            return
        }
        var offset = column - 1
        let lines = filter.split(separator: "\n", omittingEmptySubsequences: false)
        for earlier in lines.prefix(line - 1) { offset += earlier.count + 1 }
        let mark = error.message.split(separator: "\n").last?.drop { $0 != "^" } ?? ""
        self.init(
            message: String(error.message[..<match.range.lowerBound]), offset: min(offset, filter.count), length: max(mark.count, 1))
    }
}
