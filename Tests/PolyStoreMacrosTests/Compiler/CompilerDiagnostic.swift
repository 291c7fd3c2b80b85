/// A diagnostic of the compiler, or of a macro.
struct CompilerDiagnostic: Sendable {
    /// A replacement of bytes of a file.
    struct Edit: Sendable {
        let range: Range<Int>
        let text: String
    }

    /// The name of the file, without its folder.
    let file: String
    let line: Int
    let column: Int
    let isError: Bool
    /// The message, without the name of the macro.
    let message: String
    /// A Boolean value that indicates whether a macro reports it, not the compiler.
    let isFromMacro: Bool
    /// The changes that this diagnostic, such as the note of a fix-it, offers.
    var edits: [Edit] = []
    var notes: [CompilerDiagnostic] = []

    /// The messages of the fix-its. The compiler reports each as a note with its changes.
    var fixIts: [String] { notes.filter { !$0.edits.isEmpty }.map(\.message) }

    init(file: String, line: Int, column: Int, isError: Bool, text: String) {
        self.file = file
        self.line = line
        self.column = column
        self.isError = isError
        let origin = text.firstRange(of: /[ ]\(from macro '\w+ ?'\)$/)
        message = origin.map { String(text[..<$0.lowerBound]) } ?? text
        isFromMacro = origin != nil
    }

    /// Applies the fix-its with some messages, each a change of the same source.
    static func apply(_ messages: [String], of diagnostics: [CompilerDiagnostic], to source: String) -> String {
        let edits = diagnostics.flatMap(\.notes).filter { messages.contains($0.message) }.flatMap(\.edits)
        var bytes = Array(source.utf8)
        for edit in edits.sorted(by: { $0.range.lowerBound > $1.range.lowerBound }) {
            bytes.replaceSubrange(edit.range, with: edit.text.utf8)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
