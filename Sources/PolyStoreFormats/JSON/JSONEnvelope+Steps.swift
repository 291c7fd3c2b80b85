extension JSONEnvelope {
    mutating func step(_ byte: UInt8) -> Event {
        switch state {
        case .string(let isName): return stringStep(byte, isName)
        case .escape, .hexadecimal, .utf8: return characterStep(byte)
        case .number(let number): return numberStep(byte, number)
        case .literal(let text, let next):
            guard byte == text.utf8Start[next] else { return .failure("expected \(text)") }
            if next + 1 == text.utf8CodeUnitCount { endValue() } else { state = .literal(text, next: next + 1) }
            return .none
        default: break
        }
        if byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 { return .none }
        switch (state, byte) {
        case (.firstElement, UInt8(ascii: "]")): return close(isObject: false)
        case (.value, _), (.firstElement, _): return beginValue(byte)
        case (.firstName, UInt8(ascii: "}")): return close(isObject: true)
        case (.firstName, UInt8(ascii: "\"")), (.name, UInt8(ascii: "\"")):
            state = .string(isName: true)
            name = containers.count == matched + 1 && matched < path.count ? [] : nil
            return .none
        case (.colon, UInt8(ascii: ":")):
            state = .value
            return .none
        case (.afterValue, UInt8(ascii: ",")):
            state = containers.last == true ? .name : .value
            return .none
        case (.afterValue, UInt8(ascii: "}")), (.afterValue, UInt8(ascii: "]")): return close(isObject: byte == UInt8(ascii: "}"))
        default: return .failure("expected \(expected), found \(JSONCursor.name(of: byte))")
        }
    }

    private var expected: String {
        switch state {
        case .firstName, .name: "a field name in quotes"
        case .colon: "':' after a field name"
        case .end: "the end of the document"
        default: containers.last == true ? "',' or '}'" : "',' or ']'"
        }
    }

    private mutating func beginValue(_ byte: UInt8) -> Event {
        let isArrayOfRecords = isOnPath && matched == path.count
        if isOnPath, byte != (isArrayOfRecords ? UInt8(ascii: "[") : UInt8(ascii: "{")) {
            let location = matched == 0 ? "the root" : "'" + path[..<matched].joined(separator: ".") + "'"
            return .failure(
                isArrayOfRecords
                    ? "expected an array at \(location), found \(JSONCursor.name(of: byte)); name the path of the records, such as .json(at: \"items\")"
                    : "expected an object at \(location), found \(JSONCursor.name(of: byte))")
        }
        if isArrayOfRecords { return .array }
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard containers.count < JSONParser.depthLimit else {
                return .failure("more than \(JSONParser.depthLimit) nested arrays and objects")
            }
            containers.append(byte == UInt8(ascii: "{"))
            state = byte == UInt8(ascii: "{") ? .firstName : .firstElement
            isOnPath = false
        case UInt8(ascii: "\""): state = .string(isName: false)
        case UInt8(ascii: "-"): state = .number(.minus)
        case UInt8(ascii: "0"): state = .number(.zero)
        case 49...57: state = .number(.integer)
        case UInt8(ascii: "t"): state = .literal("true", next: 1)
        case UInt8(ascii: "f"): state = .literal("false", next: 1)
        case UInt8(ascii: "n"): state = .literal("null", next: 1)
        default: return .failure("expected a value, found \(JSONCursor.name(of: byte))")
        }
        return .none
    }

    private mutating func close(isObject: Bool) -> Event {
        guard containers.last == isObject else {
            return .failure("expected \(isObject ? "',' or ']'" : "',' or '}'"), found \(isObject ? "'}'" : "']'")")
        }
        containers.removeLast()
        // Inside the object at depth n of the path, n - 1 names of the path are matched.
        matched = max(0, min(matched, containers.count - 1))
        endValue()
        return .none
    }

    /// Ends a field name: the next value may be on the path.
    private mutating func endName() -> Event {
        state = .colon
        guard let raw = name else { return .none }
        name = nil
        guard let text = try? JSONValue(parsing: [UInt8(ascii: "\"")] + raw + [UInt8(ascii: "\"")]).string, text == path[matched] else {
            return .none
        }
        if foundArray { return .failure("the field '\(text)' on the path of the records occurs twice") }
        matched += 1
        isOnPath = true
        return .none
    }

    private mutating func stringStep(_ byte: UInt8, _ isName: Bool) -> Event {
        switch byte {
        case UInt8(ascii: "\""):
            if isName { return endName() }
            endValue()
            return .none
        case UInt8(ascii: "\\"): state = .escape(isName: isName)
        case 0..<0x20: return .failure("\(JSONCursor.name(of: byte)) in a string must be escaped")
        case 0x20..<0x80: break
        case 0xc2...0xdf: state = .utf8(isName: isName, left: 1, low: 0x80, high: 0xbf)
        case 0xe0: state = .utf8(isName: isName, left: 2, low: 0xa0, high: 0xbf)
        case 0xed: state = .utf8(isName: isName, left: 2, low: 0x80, high: 0x9f)
        case 0xe1...0xef: state = .utf8(isName: isName, left: 2, low: 0x80, high: 0xbf)
        case 0xf0: state = .utf8(isName: isName, left: 3, low: 0x90, high: 0xbf)
        case 0xf1...0xf3: state = .utf8(isName: isName, left: 3, low: 0x80, high: 0xbf)
        case 0xf4: state = .utf8(isName: isName, left: 3, low: 0x80, high: 0x8f)
        default: return .failure("\(JSONCursor.name(of: byte)) is not valid UTF-8")
        }
        keep(byte)
        return .none
    }

    /// Processes the bytes after a backslash, and the continuation bytes of a character.
    private mutating func characterStep(_ byte: UInt8) -> Event {
        switch state {
        case .escape(let isName):
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
                UInt8(ascii: "r"), UInt8(ascii: "t"):
                state = .string(isName: isName)
            case UInt8(ascii: "u"): state = .hexadecimal(isName: isName, left: 4)
            default: return .failure("\(JSONCursor.name(of: byte)) after a backslash is not an escape")
            }
        case .hexadecimal(let isName, let left):
            switch byte {
            case 48...57, 65...70, 97...102: state = left == 1 ? .string(isName: isName) : .hexadecimal(isName: isName, left: left - 1)
            default: return .failure("expected four hexadecimal digits after \\u, found \(JSONCursor.name(of: byte))")
            }
        case .utf8(let isName, let left, let low, let high):
            guard byte >= low, byte <= high else { return .failure("\(JSONCursor.name(of: byte)) is not valid UTF-8") }
            state = left == 1 ? .string(isName: isName) : .utf8(isName: isName, left: left - 1, low: 0x80, high: 0xbf)
        default: break
        }
        keep(byte)
        return .none
    }

    /// Stores a byte of a name that may be on the path. A name longer than every escaped form of the expected one is discarded.
    private mutating func keep(_ byte: UInt8) {
        guard let count = name?.count else { return }
        if count < path[matched].utf16.count * 6 { name?.append(byte) } else { name = nil }
    }

    private mutating func numberStep(_ byte: UInt8, _ number: NumberState) -> Event {
        let isDigit = byte &- 48 < 10
        let next: NumberState? =
            switch (number, byte) {
            case (.minus, UInt8(ascii: "0")): .zero
            case (.minus, _) where isDigit: .integer
            case (.integer, _) where isDigit: .integer
            case (.point, _) where isDigit, (.fraction, _) where isDigit: .fraction
            case (.exponent, _) where isDigit, (.sign, _) where isDigit, (.exponentDigits, _) where isDigit: .exponentDigits
            case (.zero, UInt8(ascii: ".")), (.integer, UInt8(ascii: ".")): .point
            case (.zero, _) where byte | 0x20 == UInt8(ascii: "e"), (.integer, _) where byte | 0x20 == UInt8(ascii: "e"),
                (.fraction, _) where byte | 0x20 == UInt8(ascii: "e"):
                .exponent
            case (.exponent, UInt8(ascii: "+")), (.exponent, UInt8(ascii: "-")): .sign
            default: nil
            }
        if let next {
            state = .number(next)
            return .none
        }
        guard number.isComplete else { return .failure("expected a number, found \(JSONCursor.name(of: byte)) in it") }
        // The byte is not part of the number.
        endValue()
        return step(byte)
    }
}
