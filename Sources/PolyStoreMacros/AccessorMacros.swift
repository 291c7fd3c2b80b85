import SwiftSyntax
import SwiftSyntaxMacros

/// The property that an accessor macro is attached to, and the ordinals that `@Model` gave it.
private struct Attached {
    let storage: String
    private let arguments: [String?: String]

    init?(_ node: AttributeSyntax, _ declaration: some DeclSyntaxProtocol) {
        guard let binding = declaration.as(VariableDeclSyntax.self)?.bindings.first,
            let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
        else { return nil }
        storage = "_$\(identifier.trimmingBackticks)"
        arguments = Dictionary(
            node.labeledArguments.map { ($0.label?.text, $0.expression.trimmedDescription) }, uniquingKeysWith: { first, _ in first })
    }

    subscript(label: String?) -> String { arguments[label] ?? "0" }
}

/// Reads values of faults first, and marks what changes.
public struct PersistedAttributeMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let attached = Attached(node, declaration) else { return [] }
        return [
            "get { if _$state.isFault { _$fire() }; return \(raw: attached.storage) }",
            "set { _$willChange(\(raw: attached[nil])); \(raw: attached.storage) = newValue }",
            "_modify { _$willChange(\(raw: attached[nil])); yield &\(raw: attached.storage) }",
        ]
    }
}

public struct PersistedToOneMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let attached = Attached(node, declaration) else { return [] }
        let (relationship, field) = (attached["relationship"], attached["field"])
        return [
            "get { if _$state.isFault { _$fire() }; return _$target(of: \(raw: relationship), \(raw: attached.storage)) }",
            """
            set { _$willChange(\(raw: field)); \(raw: attached.storage) = _$retarget(\(raw: relationship), from: \(raw: attached.storage), to: newValue) }
            """,
        ]
    }
}

public struct PersistedToManyMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let attached = Attached(node, declaration) else { return [] }
        let relationship = attached["relationship"]
        return [
            "get { _$members(of: \(raw: relationship)) }",
            "set { _$setMembers(of: \(raw: relationship), to: newValue) }",
        ]
    }
}
