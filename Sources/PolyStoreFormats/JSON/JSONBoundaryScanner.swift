/// Finds the end of a JSON value whose bytes arrive in parts, by counting brackets outside strings.
///
/// It does not validate the grammar; the parser does. For valid JSON the end is exact.
struct JSONBoundaryScanner {
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var isScalar = false

    /// Returns the offset after the value, or nil if it continues after these bytes.
    ///
    /// - Parameter start: The offset of the first unscanned byte.
    mutating func end(_ bytes: UnsafePointer<UInt8>, from start: Int, count: Int) -> Int? {
        var index = start
        while index < count {
            if isInString {
                if isEscaped {
                    isEscaped = false
                    index &+= 1
                    continue
                }
                index = ByteScan.plainStringEnd(bytes, index, count)
                guard index < count else { return nil }
                let byte = bytes[index]
                index &+= 1
                if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                    if depth == 0 { return index }
                }
                continue
            }
            switch bytes[index] {
            case UInt8(ascii: "\""):
                if isScalar { return index }
                isInString = true
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                if isScalar { return index }
                depth &+= 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { return index }
                depth &-= 1
                if depth == 0 { return index &+ 1 }
            case UInt8(ascii: ","), 0x20, 0x09, 0x0a, 0x0d:
                if depth == 0 { return index }
            default:
                if depth == 0 { isScalar = true }
            }
            index &+= 1
        }
        return nil
    }
}
