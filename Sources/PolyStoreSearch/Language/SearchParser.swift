/// Reads a query. Every query has a meaning; what is an operator in the wrong place is text, and the first such mistake is kept.
struct SearchParser {
    /// The maximum number of bytes of a query.
    static let maximumBytes = 1 << 16
    /// The greatest distance in `NEAR`.
    static let maximumDistance = 1_000_000

    let bytes: [UInt8]
    private let elements: [SearchElement]
    private var next = 0
    /// The first mistake.
    private(set) var mistake: (message: String, offset: Int)?

    init(_ text: String) {
        var text = text
        var mistakes: [(message: String, offset: Int)] = []
        bytes = text.withUTF8 { utf8 in
            guard utf8.count > Self.maximumBytes else { return Array(utf8) }
            mistakes.append(("The query has more than \(Self.maximumBytes) bytes", Self.maximumBytes))
            var end = Self.maximumBytes
            while end > 0, utf8[end] & 0xc0 == 0x80 { end -= 1 }
            return Array(utf8[..<end])
        }
        let (elements, wrong) = SearchLexer.elements(of: bytes)
        self.elements = elements
        mistakes += wrong
        mistake = mistakes.min { $0.offset < $1.offset }
    }

    /// Returns the expression; nil if the query has no text.
    mutating func parse() -> SearchExpression? {
        next = 0
        return parseAny(until: elements.count)
    }

    private mutating func report(_ message: String, _ offset: Int) {
        if let mistake, mistake.offset <= offset { return }
        mistake = (message, offset)
    }

    // MARK: Combinations

    private mutating func parseAny(until end: Int) -> SearchExpression? {
        var parts: [SearchExpression] = []
        while next < end {
            if let part = parseAll(until: end) { parts.append(part) }
            // `parseAll` ended at an `OR`.
            if next < end { next += 1 }
        }
        return parts.count > 1 ? .any(parts) : parts.first
    }

    /// Reads up to the end or to an `OR` that is an operator.
    private mutating func parseAll(until end: Int) -> SearchExpression? {
        var parts: [SearchExpression] = []
        while next < end {
            if isWord(next, "OR") || isWord(next, "AND") {
                if !parts.isEmpty, isOperand(next + 1, until: end) {
                    if isWord(next, "OR") { break }
                    next += 1
                    continue
                }
                let name = isWord(next, "OR") ? "OR" : "AND"
                report(
                    "\(name) combines what is before it with what is after it. Put it in quotation marks to search it as text",
                    elements[next].outer.lowerBound)
            }
            if let part = parsePart() { parts.append(part) }
        }
        switch parts.first {
        // A single exclusion remains one, so that a group of it excludes nothing from what is outside.
        case .not, .field(_, .not, _): return .all(parts)
        default: return parts.count > 1 ? .all(parts) : parts.first
        }
    }

    private func isOperand(_ index: Int, until end: Int) -> Bool { index < end && !isWord(index, "OR") && !isWord(index, "AND") }

    private func isWord(_ index: Int, _ word: StaticString) -> Bool {
        elements[index].kind == .word && isEqual(elements[index].text, word)
    }

    private func isEqual(_ range: Range<Int>, _ word: StaticString) -> Bool {
        range.count == word.utf8CodeUnitCount
            && zip(bytes[range], UnsafeBufferPointer(start: word.utf8Start, count: range.count)).allSatisfy(==)
    }

    // MARK: Parts

    private mutating func parsePart() -> SearchExpression? {
        let element = elements[next]
        switch element.kind {
        case .quoted:
            next += 1
            return .phrase(SearchOperand(range: element.text, isPrefix: element.isPrefix))
        case .open:
            next += 1
            if next == element.partner { report("The parentheses contain nothing", element.outer.lowerBound) }
            let inner = parseAny(until: element.partner)
            next = element.partner + 1
            return inner
        case .close:
            next += 1
            return nil
        case .word:
            // Directly after a quoted text or a group, `-` and `:` are text.
            let isGlued = next > 0 && elements[next - 1].kind != .open && elements[next - 1].outer.upperBound == element.outer.lowerBound
            next += 1
            return isGlued ? .phrase(operand(element.text)) : parseWord(element.text)
        }
    }

    private mutating func parseWord(_ word: Range<Int>) -> SearchExpression? {
        guard bytes[word.lowerBound] == UInt8(ascii: "-") else { return parseField(word) }
        let rest = (word.lowerBound + 1)..<word.upperBound
        if rest.isEmpty, isFollowedDirectly(word.upperBound) {
            return parsePart().map { .not($0) }
        }
        if rest.isEmpty || bytes[rest.lowerBound] == UInt8(ascii: "-") {
            report(
                "One - directly before a word, a phrase or a group excludes it. Put the text in quotation marks to search it",
                word.lowerBound)
            return .phrase(operand(word))
        }
        return parseField(rest).map { .not($0) }
    }

    /// Returns whether the next element is a quoted text or a group that begins at an offset.
    private func isFollowedDirectly(_ offset: Int) -> Bool {
        next < elements.count && elements[next].outer.lowerBound == offset
            && (elements[next].kind == .quoted || elements[next].kind == .open)
    }

    private mutating func parseField(_ word: Range<Int>) -> SearchExpression? {
        if let near = parseNear(word) { return near }
        guard let colon = bytes[word].firstIndex(of: UInt8(ascii: ":")), colon > word.lowerBound else { return .phrase(operand(word)) }
        let name = word.lowerBound..<colon
        let rest = (colon + 1)..<word.upperBound
        if !rest.isEmpty, bytes[rest.lowerBound] == UInt8(ascii: "-") { return parseExclusion(rest, name, word) }
        if let near = parseNear(rest) { return .field(name: name, near, text: nil) }
        if rest.isEmpty {
            if isFollowedDirectly(word.upperBound) { return parsePart().map { .field(name: name, $0, text: nil) } }
            report(
                "Nothing follows the colon. Write a word, a phrase or a group directly after it, or put the text in quotation marks", colon)
            return .phrase(operand(word))
        }
        return .field(name: name, .phrase(operand(rest)), text: operand(word))
    }

    /// Reads what follows the colon of a field if it begins with `-`: it is excluded, as if the `-` were before the name.
    private mutating func parseExclusion(_ text: Range<Int>, _ name: Range<Int>, _ word: Range<Int>) -> SearchExpression? {
        report("To exclude what a field has, write the - before the name of the field. Or put the text in quotation marks", text.lowerBound)
        let rest = (text.lowerBound + 1)..<text.upperBound
        if let near = parseNear(rest) { return .field(name: name, .not(near), text: nil) }
        if rest.isEmpty, isFollowedDirectly(word.upperBound) { return parsePart().map { .field(name: name, .not($0), text: nil) } }
        let isText = rest.isEmpty || bytes[rest.lowerBound] == UInt8(ascii: "-")
        let inner = SearchExpression.phrase(operand(isText ? text : rest))
        return .field(name: name, isText ? inner : .not(inner), text: operand(word))
    }

    private mutating func operand(_ word: Range<Int>) -> SearchOperand {
        let isPrefix = word.count > 1 && bytes[word.upperBound - 1] == UInt8(ascii: "*")
        let range = isPrefix ? word.lowerBound..<(word.upperBound - 1) : word
        if let star = bytes[range].firstIndex(of: UInt8(ascii: "*")) {
            report("* is permitted only once, at the end of a word or phrase. Put the text in quotation marks to search it", star)
        }
        return SearchOperand(range: range, isPrefix: isPrefix)
    }

    // MARK: NEAR

    /// Reads `NEAR(…)`, or nothing if the word is not its name or what is in the parentheses is not a list of words and phrases.
    private mutating func parseNear(_ word: Range<Int>) -> SearchExpression? {
        guard isEqual(word, "NEAR"), isFollowedDirectly(word.upperBound), elements[next].kind == .open else { return nil }
        let open = next
        let close = elements[open].partner
        guard !elements[(open + 1)..<close].contains(where: { $0.kind == .open }) else {
            report("NEAR contains words and phrases only", word.lowerBound)
            return nil
        }
        let (end, distance) = nearDistance((open + 1)..<close)
        var operands: [SearchOperand] = []
        for index in (open + 1)..<close where elements[index].outer.lowerBound < end {
            let element = elements[index]
            if element.kind == .quoted {
                operands.append(SearchOperand(range: element.text, isPrefix: element.isPrefix))
                continue
            }
            if !isOperand(index, until: close) || bytes[element.text.lowerBound] == UInt8(ascii: "-") {
                report("NEAR contains words and phrases only", element.outer.lowerBound)
            }
            let text = element.text.lowerBound..<min(element.text.upperBound, end)
            reportSeparators(text)
            operands.append(operand(text))
        }
        if operands.isEmpty { report("NEAR contains nothing", word.lowerBound) }
        next = close + 1
        return .near(operands, distance: distance)
    }

    /// Reports a colon or a comma in a word of `NEAR`.
    private mutating func reportSeparators(_ word: Range<Int>) {
        if let colon = bytes[word].firstIndex(of: UInt8(ascii: ":")) {
            report("A field is named before NEAR, as in title:NEAR(a b). Put the text in quotation marks to search it", colon)
        }
        if let comma = bytes[word].firstIndex(of: UInt8(ascii: ",")) {
            report("In NEAR, a comma is before the distance only, which is a number. Put the text in quotation marks to search it", comma)
        }
    }

    /// Returns the distance at the end of the elements of `NEAR`, and the offset of the comma before it.
    ///
    /// A number with a comma inside, such as `1,000`, is text.
    private mutating func nearDistance(_ content: Range<Int>) -> (end: Int, distance: Int) {
        let comma = UInt8(ascii: ",")
        let none = (elements[content.upperBound].outer.lowerBound, 10)
        guard let word = content.last.map({ elements[$0] }), word.kind == .word else { return none }
        var end = bytes[word.text].lastIndex(of: comma)
        let digits = end.map { ($0 + 1)..<word.text.upperBound } ?? word.text
        guard !digits.isEmpty, bytes[digits].allSatisfy(isDigit) else { return none }
        if let end {
            let before = bytes[word.text.lowerBound..<end]
            if !before.isEmpty, before.allSatisfy({ isDigit($0) || $0 == comma || $0 == UInt8(ascii: ".") }) { return none }
        } else if content.count > 1 {
            let before = elements[content.upperBound - 2]
            if before.kind == .word, bytes[before.text.upperBound - 1] == comma { end = before.text.upperBound - 1 }
        }
        guard let end else { return none }
        var distance = 0
        for digit in bytes[digits] { distance = min(distance * 10 + Int(digit) - 48, Self.maximumDistance + 1) }
        if distance > Self.maximumDistance { report("The distance is greater than \(Self.maximumDistance)", digits.lowerBound) }
        return (end, min(distance, Self.maximumDistance))
    }

    private func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
