import SwiftSyntax
import SwiftSyntaxMacros

/// The property that an accessor macro is attached to, and the indexes that `@Model` assigned to it.
private struct Attached {
    let storage: String
    /// A Boolean value that indicates whether the type is cheap to copy, so that in-place access is unnecessary. Without in-place access, the compiler can
    /// prove that accesses to the storage never overlap, and omits the exclusivity checks of reads.
    let isScalar: Bool
    private let arguments: [String?: String]

    init?(_ node: AttributeSyntax, _ declaration: some DeclSyntaxProtocol) {
        guard let binding = declaration.as(VariableDeclSyntax.self)?.bindings.first,
            let identifier = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier.text
        else { return nil }
        storage = ModelProperty.storage(identifier.trimmingBackticks)
        let type = PropertyReader.type(of: binding)
        isScalar = (type?.wrappedOptional ?? type).map { Self.scalars.contains($0.trimmedDescription) } ?? false
        arguments = Dictionary(
            node.labeledArguments.map { ($0.label?.text, $0.expression.trimmedDescription) }, uniquingKeysWith: { first, _ in first })
    }

    private static let scalars: Set<String> = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Float", "Double", "Decimal",
        "Date",
        "UUID", "URL", "String",
    ]

    /// An index among the class's own properties or, if the class may inherit from another model, among all properties.
    subscript(label: String?) -> String {
        let fieldIndex = arguments[label] ?? "0"
        guard let type = arguments["in"]?.dropFirst().dropLast() else { return fieldIndex }
        return "\(type)._$firstIndexes.\(label == "relationship" ? label ?? "" : "field") + \(fieldIndex)"
    }
}

/// Generates accessors that read the values of a fault first and record changes.
public struct PersistedAttributeMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let attached = Attached(node, declaration) else { return [] }
        var accessors: [AccessorDeclSyntax] = [
            "get { if _$state.isFault { _$fire(\(raw: attached[nil])) }; return \(raw: attached.storage) }",
            "set { _$willChange(\(raw: attached[nil])); \(raw: attached.storage) = newValue }",
        ]
        if !attached.isScalar {
            accessors.append("_modify { _$willChange(\(raw: attached[nil])); yield &\(raw: attached.storage) }")
        }
        return accessors
    }
}

/// Generates the accessors of a to-one relationship.
public struct PersistedToOneMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let attached = Attached(node, declaration) else { return [] }
        let (relationship, field) = (attached["relationship"], attached["field"])
        return [
            "get { if _$state.isFault { _$fire(\(raw: field)) }; return _$target(of: \(raw: relationship), \(raw: attached.storage)) }",
            """
            set { _$willChange(\(raw: field)); \(raw: attached.storage) = _$retarget(\(raw: relationship), from: \(raw: attached.storage), to: newValue) }
            """,
        ]
    }
}

/// Generates the accessors of a to-many relationship.
public struct PersistedToManyMacro: AccessorMacro {
    public static func expansion(
        of node: AttributeSyntax, providingAccessorsOf declaration: some DeclSyntaxProtocol, in context: some MacroExpansionContext
    ) throws -> [AccessorDeclSyntax] {
        guard let attached = Attached(node, declaration) else { return [] }
        let relationship = attached["relationship"]
        return [
            "get { _$members(of: \(raw: relationship)) }",
            "set { _$setMembers(of: \(raw: relationship), to: newValue) }",
            "_modify { yield &self[_$members: \(raw: relationship)] }",
        ]
    }
}
