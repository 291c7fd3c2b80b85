import SwiftSyntax

/// What `@Model` writes into a class that others inherit from, or that inherits from another.
extension ModelClass {
    var isInHierarchy: Bool { isSubclass || !subentities.isEmpty }

    /// Of static members.
    var overridable: String { subentities.isEmpty ? "static" : "class" }

    /// What the accessors are told where the class may inherit properties, so that the ordinals of its own do not begin at 0.
    var place: String { inherited == nil ? "" : ", in: \(quoted(name))" }

    /// A function that gives the key paths of a class's properties, for any class below it: a key path begins at one class.
    var pathsName: String { "_$paths_\(name.trimmingBackticks)" }

    private var parentPathsName: String? {
        guard isSubclass, let inherited else { return nil }
        let last = inherited.split(separator: ".").last.map(String.init) ?? inherited
        return "\(inherited)._$paths_\(last.trimmingBackticks)"
    }

    var pathsMember: DeclSyntax {
        let own = properties.map { "        (\\Root.\($0.identifier), \(quoted($0.storedName))),\n" }.joined()
        return """
            \(raw: access)static func \(raw: pathsName)<Root: \(raw: name)>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] {
                \(raw: parentPathsName.map { "\($0)(root) + " } ?? "")[
            \(raw: own)    ]
            }
            """
    }

    /// The class's place in its hierarchy.
    var hierarchyMembers: [DeclSyntax] {
        var members: [DeclSyntax] = []
        if isSubclass {
            members.append(
                "private static let _$ordinals = \(raw: name)._$hierarchy?.ordinals(of: \(raw: name).self) ?? PolyStoreCore.ModelOrdinals()"
            )
        } else if inherited != nil {
            members.append("private static var _$ordinals: PolyStoreCore.ModelOrdinals { PolyStoreCore.ModelOrdinals() }")
        }
        guard isInHierarchy else { return members }
        if !isSubclass {
            members.append(
                "\(raw: access)static let _$hierarchy: PolyStoreCore.ModelHierarchy? = PolyStoreCore.ModelHierarchy(\(raw: name).self)")
        }
        let parent = isSubclass ? inherited.map { "\($0).self" } ?? "nil" : "nil"
        // Of its own type, so that one that does not inherit from it does not compile.
        let below = subentities.map { "\($0).self" }.joined(separator: ", ")
        let list = subentities.isEmpty ? "[]" : "[\(below)] as [\(name).Type]"
        members.append(
            """
            \(raw: isSubclass ? "override " : "")\(raw: access)\(raw: overridable) var _$inheritance: PolyStoreCore.ModelInheritance {
                PolyStoreCore.ModelInheritance(isAbstract: \(raw: isAbstract), superentity: \(raw: parent), subentities: \(raw: list))
            }
            """)
        if !isSubclass { for function in validationFunctions { members.append("\(raw: access)func \(raw: function)() throws {}") } }
        return members
    }

    /// The validation functions that the root of a hierarchy does not declare itself. It needs them all: a subclass cannot override a member of a protocol
    /// extension, and a function of its own with that name would never be called.
    var validationFunctions: [String] { ["validate", "validateForDelete"].filter { !functions.contains($0) } }
}
