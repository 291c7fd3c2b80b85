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

    mutating func add(_ id: String, _ message: String, at node: some SyntaxProtocol, fixIts: [FixIt] = []) {
        found.append(Diagnostic(node: Syntax(node), message: ModelDiagnostic(id, message), fixIts: fixIts))
    }
}

extension FixIt {
    static func replace(_ message: String, _ old: some SyntaxProtocol, with new: some SyntaxProtocol) -> FixIt {
        FixIt(message: ModelFixIt(message: message), changes: [.replace(oldNode: Syntax(old), newNode: Syntax(new))])
    }
}
