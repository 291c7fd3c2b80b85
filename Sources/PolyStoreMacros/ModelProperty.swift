import SwiftSyntax

/// A persisted property of a model class.
struct ModelProperty {
    struct Relationship {
        /// The destination class, as written.
        var destination: String
        var isToMany: Bool
        var isOrdered: Bool
        var inverse: String?
        /// The node at which compiler errors about the inverse are reported.
        var inversePosition: Syntax?
        var deleteRule: String
        var isRequired: String
        var minCount: String
        var maxCount: String

        /// The index among all relationships.
        var index = 0
    }

    /// The name in Swift, without backticks.
    var name: String
    /// The name in generated code, with backticks if needed.
    var identifier: String
    var storedName: String
    var originalName: String?
    /// The type, as written.
    var type: String
    var isOptional: Bool
    var defaultValue: ExprSyntax?
    /// The options, such as `.unique` and `.indexed`.
    var options: [String] = []
    var relationship: Relationship?
    /// The index among attributes and to-one relationships; `nil` for a to-many relationship.
    var field: Int?
    /// The node at which compiler errors about the property are reported: its type.
    var position: Syntax

    /// The name of the variable that holds the value. Its prefix avoids conflicts with the framework's members, such as `_$state`.
    var storage: String { Self.storage(name) }

    static func storage(_ name: String) -> String { "_$stored_\(Identifier.mangled(name))" }

    /// Returns the key path of the property as code.
    /// - Parameter root: The class, as code.
    func keyPath(_ root: String) -> String { Self.keyPath(identifier, root) }

    /// Returns the key path of a property as code, by its name in generated code.
    static func keyPath(_ identifier: String, _ root: String) -> String {
        // `\Thing.`Type`` names a metatype, also in backticks.
        Identifier.metatypeMembers.contains(identifier.trimmingBackticks)
            ? "(\\.\(identifier) as PartialKeyPath<\(root)>)" : "\\\(root).\(identifier)"
    }
}

/// Returns a string literal for a text, with escapes where needed.
func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\"": result += "\\\""
        case "\\": result += "\\\\"
        case "\n": result += "\\n"
        case "\r": result += "\\r"
        case "\t": result += "\\t"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result + "\""
}

func quoted(_ text: String?) -> String { text.map { quoted($0) } ?? "nil" }

extension ExprSyntax {
    /// The text of a plain string literal.
    var plainString: String? {
        guard let literal = self.as(StringLiteralExprSyntax.self) else { return nil }
        return literal.representedLiteralValue
    }

    /// The member name in `.member` or `Type.member`.
    var memberName: String? { self.as(MemberAccessExprSyntax.self)?.declName.baseName.text }
}

extension AttributeListSyntax {
    /// Returns the attribute with a name, with or without a module qualifier.
    func named(_ name: String) -> AttributeSyntax? {
        for case .attribute(let attribute) in self {
            let written = attribute.attributeName
            if written.as(IdentifierTypeSyntax.self)?.name.text == name || written.as(MemberTypeSyntax.self)?.name.text == name {
                return attribute
            }
        }
        return nil
    }
}

extension AttributeSyntax {
    var labeledArguments: LabeledExprListSyntax { arguments?.as(LabeledExprListSyntax.self) ?? [] }

    func argument(_ label: String) -> ExprSyntax? { labeledArguments.first { $0.label?.text == label }?.expression }
}

extension TypeSyntax {
    /// The type inside `T?` or `Optional<T>`.
    var wrappedOptional: TypeSyntax? {
        if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.trimmed }
        return genericArgument(of: "Optional")
    }

    /// The type inside `Name<T>`.
    func genericArgument(of name: String) -> TypeSyntax? {
        let clause: GenericArgumentClauseSyntax?
        if let identifier = self.as(IdentifierTypeSyntax.self), identifier.name.text == name {
            clause = identifier.genericArgumentClause
        } else if let member = self.as(MemberTypeSyntax.self), member.name.text == name {
            clause = member.genericArgumentClause
        } else {
            clause = nil
        }
        guard let argument = clause?.arguments.first?.argument.trimmedDescription, clause?.arguments.count == 1 else { return nil }
        return TypeSyntax(stringLiteral: argument)
    }
}
