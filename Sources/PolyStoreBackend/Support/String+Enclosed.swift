extension String {
    /// Returns the text between two quotes, with each quote in it doubled, also one that a combining mark follows: the form of names and texts in SQL.
    package func enclosed(in quote: Unicode.Scalar) -> String {
        var result = UnicodeScalarView([quote])
        for scalar in unicodeScalars {
            if scalar == quote { result.append(quote) }
            result.append(scalar)
        }
        result.append(quote)
        return String(result)
    }
}
