import Testing

@Suite struct ToolTests {
    @Test func starts() { #expect(Bool(true)) }
}
