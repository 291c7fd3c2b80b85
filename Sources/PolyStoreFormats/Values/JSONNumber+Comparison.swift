extension JSONNumber: Hashable {
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        switch (left.storage, right.storage) {
        case (.int64(let left), .int64(let right)): return left == right
        case (.uint64(let left), .uint64(let right)): return left == right
        case (.int64, .uint64), (.uint64, .int64): return false
        case (.text(let left), .text(let right)) where left == right: return true
        default: break
        }
        guard let leftDigits = DecimalDigits(validText: left.text), let rightDigits = DecimalDigits(validText: right.text) else {
            // Numbers whose exponent has a magnitude of 10^18 or more are compared as text.
            return left.text == right.text
        }
        return leftDigits == rightDigits
    }

    public func hash(into hasher: inout Hasher) {
        if let value = int64 {
            hasher.combine(value)
        } else if let value = uint64 {
            hasher.combine(value)
        } else {
            let text = text
            if let digits = DecimalDigits(validText: text) { hasher.combine(digits) } else { hasher.combine(text) }
        }
    }
}
