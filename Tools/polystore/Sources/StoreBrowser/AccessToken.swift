/// A random text that a request must know to be answered.
package struct AccessToken: Sendable, CustomStringConvertible {
    package let description: String

    /// Creates a token of 128 random bits, in hexadecimal digits.
    package init() {
        var generator = SystemRandomNumberGenerator()
        description = (0..<16).map { _ in
            let byte = UInt8.random(in: .min ... .max, using: &generator)
            return (byte < 16 ? "0" : "") + String(byte, radix: 16)
        }.joined()
    }

    /// Returns whether a text is the token. The time does not depend on the position of the first difference.
    package func matches(_ text: some StringProtocol) -> Bool {
        let (own, other) = (Array(description.utf8), Array(text.utf8))
        guard own.count == other.count else { return false }
        return zip(own, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
