import SwiftDiagnostics
import SwiftSyntax

/// A diagnostic for a model class. Every message describes the problem and its solution.
struct ModelDiagnostic: DiagnosticMessage {
    let id: String
    let message: String
    var diagnosticID: MessageID { MessageID(domain: "PolyStore", id: id) }
    var severity: DiagnosticSeverity { .error }

    init(_ id: String, _ message: String) {
        self.id = id
        self.message = message
    }
}

struct ModelFixIt: FixItMessage {
    let message: String
    var fixItID: MessageID { MessageID(domain: "PolyStore", id: "fix") }
}

/// The diagnostics of a class. Each role of the macro parses the class; one of them reports the diagnostics.
struct Problems {
    private(set) var found: [Diagnostic] = []
    /// A Boolean value that indicates whether no code can be generated for the class because of a problem, except ``ModelClass/stubMembers``.
    private(set) var preventExpansion = false

    /// - Parameter preventsExpansion: Whether the generated code would not compile either.
    mutating func add(_ id: String, _ message: String, at node: some SyntaxProtocol, fixIts: [FixIt] = [], preventsExpansion: Bool = true) {
        if preventsExpansion { preventExpansion = true }
        found.append(Diagnostic(node: Syntax(node), message: ModelDiagnostic(id, message), fixIts: fixIts))
    }
}

extension FixIt {
    static func replace(_ message: String, _ old: some SyntaxProtocol, with new: some SyntaxProtocol) -> FixIt {
        FixIt(message: ModelFixIt(message: message), changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
}
