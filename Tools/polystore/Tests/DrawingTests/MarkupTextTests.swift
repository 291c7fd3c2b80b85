import BrowserDrawing
import Testing

@Suite struct MarkupTextTests {
    @Test(arguments: [
        ("a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;"), ("line\nline\tend", "line\nline\tend"), ("\0\u{1b}", "\u{fffd}\u{fffd}"), ("", ""),
    ])
    func charactersOfMarkupAreReplaced(_ text: String, _ expected: String) { #expect(MarkupText(text).description == expected) }
}
