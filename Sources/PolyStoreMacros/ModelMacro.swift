import SwiftSyntax
import SwiftSyntaxMacros

/// The implementation of `@Model`, which generates the conformance of a class to `Model`.
public struct ModelMacro {}

extension ModelMacro: MemberMacro {
    public static func expansion(
        of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax, conformingTo protocols: [TypeSyntax],
        in context: some MacroExpansionContext
    ) throws -> [DeclSyntax] {
        let model = ModelClass(node, declaration, in: context, missing: protocols)
        // Only this role reports the problems that all roles find.
        for problem in model.problems.found { context.diagnose(problem) }
        guard model.isUsable else { return [] }
        guard !model.problems.preventExpansion else { return model.stubMembers }
        return model.storageMembers(in: context) + model.codingMembers + model.descriptionMembers(in: context)
            + model.hierarchyMembers(in: context)
            + model.checkMembers(in: context)
    }
}

extension ModelMacro: MemberAttributeMacro {
    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, providingAttributesFor member: some DeclSyntaxProtocol,
        in context: some MacroExpansionContext
    ) throws -> [AttributeSyntax] {
        guard let variable = member.as(VariableDeclSyntax.self), PropertyReader.isPersisted(variable) else { return [] }
        let model = ModelClass(node, declaration, in: context, isForMember: true)
        guard model.isUsable, !model.problems.preventExpansion,
            let identifier = variable.bindings.first?.pattern.as(IdentifierPatternSyntax.self)?.identifier.text,
            let property = model.properties.first(where: { $0.identifier == identifier })
        else { return [] }
        guard let relationship = property.relationship else {
            return ["@PolyStore._PersistedAttribute(\(raw: property.field ?? 0)\(raw: model.ownerArgument))"]
        }
        if relationship.isToMany {
            return ["@PolyStore._PersistedToMany(relationship: \(raw: relationship.index)\(raw: model.ownerArgument))"]
        }
        return [
            "@PolyStore._PersistedToOne(relationship: \(raw: relationship.index), field: \(raw: property.field ?? 0)\(raw: model.ownerArgument))"
        ]
    }
}

extension ModelMacro: ExtensionMacro {
    public static func expansion(
        of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax, providingExtensionsOf type: some TypeSyntaxProtocol,
        conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
    ) throws -> [ExtensionDeclSyntax] {
        let model = ModelClass(node, declaration, in: context, missing: protocols)
        // A subclass inherits both conformances. A class with an error conforms too: see ``ModelClass/stubMembers``.
        guard model.isUsable, !model.isSubclass, !model.isPrivateInside else { return [] }
        let conformance: DeclSyntax = "extension \(type.trimmed): \(raw: model.isIsolated ? "nonisolated " : "")PolyStoreCore.Model {}"
        let confinement: DeclSyntax = """
            @available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
            extension \(type.trimmed): @unchecked Sendable {}
            """
        return [model.isDeclaredModel ? nil : conformance, model.isDeclaredSendable ? nil : confinement].compactMap { $0 }.compactMap {
            $0.as(ExtensionDeclSyntax.self)
        }
    }
}
