/// Writes an expression in the form that parses back to the same meaning.
struct SearchWriter {
    let bytes: [UInt8]
    private let tokenizer = SearchTokenizer()

    init(bytes: [UInt8]) { self.bytes = bytes }

    /// Returns the text of an expression; an empty text if it has no tokens.
    func text(_ expression: SearchExpression) -> String {
        switch expression {
        case .phrase(let operand): return text(operand)
        case .near(let operands, let distance):
            let texts = operands.map(text).filter { !$0.isEmpty }
            return texts.isEmpty ? "" : "NEAR(\(texts.joined(separator: " ")), \(distance))"
        case .field(let name, let inner, let word):
            if let word { return source(word.range) + (word.isPrefix ? "*" : "") }
            // Without quotation marks, the name of an unknown field and the text would be one word.
            if case .phrase(let operand) = inner { return "\(source(name)):\(text(operand, isQuoted: true))" }
            let content = grouped(inner)
            return "\(source(name)):\(content.isEmpty ? "\"\"" : content)"
        case .not(let inner):
            let content = grouped(inner)
            return content.isEmpty ? "" : "-\(content)"
        case .all(let parts):
            return parts.map { part in
                switch part {
                case .all, .any: grouped(part)
                default: text(part)
                }
            }.filter { !$0.isEmpty }.joined(separator: " ")
        case .any(let parts):
            return parts.map { part in
                if case .any = part { return grouped(part) }
                return text(part)
            }.filter { !$0.isEmpty }.joined(separator: " OR ")
        }
    }

    /// Returns the text of an expression, in parentheses unless it is a single one.
    private func grouped(_ expression: SearchExpression) -> String {
        let content = text(expression)
        switch expression {
        case .all, .any, .not, .field: return content.isEmpty ? "" : "(\(content))"
        case .phrase, .near: return content
        }
    }

    private func source(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func text(_ operand: SearchOperand) -> String { text(operand, isQuoted: false) }

    /// Returns a word, or a phrase in quotation marks if the text has several tokens or would be an operator.
    private func text(_ operand: SearchOperand, isQuoted: Bool) -> String {
        guard let (range, isWord) = tokenizer.extent(bytes[operand.range]) else { return isQuoted ? "\"\"" : "" }
        let content = source(range)
        let isBare = !isQuoted && isWord && content != "OR" && content != "AND" && content != "NEAR"
        return (isBare ? content : "\"\(content)\"") + (operand.isPrefix ? "*" : "")
    }
}
