/// A source of row ids.
class IDSource {
    /// The number of examined entries.
    final var examined = 0
    /// - Returns: `nil` at the end.
    func next() throws -> Int64? { nil }
    func close() {}
}
