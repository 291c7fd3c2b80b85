import SwiftSyntax
import SwiftSyntaxMacros

/// The code that `@Model` generates for a class in a hierarchy.
extension ModelClass {
    var isInHierarchy: Bool { isSubclass || !subentities.isEmpty }

    /// The modifier of static members.
    var overridable: String { subentities.isEmpty ? "static" : "class" }

    /// An additional argument of the accessors if the class may inherit properties, so that the indexes of its own do not begin at 0.
    var ownerArgument: String { inherited == nil ? "" : ", in: \(quoted(name))" }

    /// The name of a function that returns the key paths of a class's properties for any subclass, because a key path has a fixed root class.
    var pathsName: String { "_$paths_\(Identifier.mangled(name.trimmingBackticks))" }

    private var parentPathsName: String? {
        guard isSubclass, let inherited, let inheritedName else { return nil }
        return "\(inherited)._$paths_\(Identifier.mangled(inheritedName.trimmingBackticks))"
    }

    func pathsMember(in context: some MacroExpansionContext) -> DeclSyntax {
        let own = properties.map { "        (\($0.keyPath("Root")), \(quoted($0.storedName))),\n" }.joined()
        // The superclass may inherit from a model without being one. It has no such function, which the compiler reports at the class.
        let inherited = parentPathsName.map { path in
            let line = "    let inherited: [(PartialKeyPath<Root>, String)] = \(path)(root)\n"
            return (position.map { located(line, at: $0, in: context) } ?? line) + "#sourceLocation()\n"
        }
        return """
            \(raw: access)static func \(raw: pathsName)<Root: \(raw: name)>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] {
            \(raw: inherited ?? "")    \(raw: inherited == nil ? "" : "return inherited + ")[
            \(raw: own)    ]
            }
            """
    }

    /// The position of the class in its hierarchy.
    func hierarchyMembers(in context: some MacroExpansionContext) -> [DeclSyntax] {
        var members: [DeclSyntax] = []
        if isSubclass {
            members.append(
                "private static let _$firstIndexes = \(raw: name)._$hierarchy?.firstIndexes(of: \(raw: name).self) ?? PolyStoreCore.ModelFirstIndexes()"
            )
        } else if inherited != nil {
            members.append("private static var _$firstIndexes: PolyStoreCore.ModelFirstIndexes { PolyStoreCore.ModelFirstIndexes() }")
        }
        guard isInHierarchy else { return members }
        if !isSubclass {
            members.append(
                "\(raw: access)static let _$hierarchy: PolyStoreCore.ModelHierarchy? = PolyStoreCore.ModelHierarchy(\(raw: name).self)")
        }
        let parent = isSubclass ? inherited.map { "\($0).self" } ?? "nil" : "nil"
        // A statement for each class, so that the compiler reports one that does not exist or does not inherit from this one at its name.
        let lines = zip(subentities, subentityNodes).map { subentity, node in
            located(
                "    subentities.append(PolyStoreCore.ModelCheck.Superclass<\(name)>.lists(\(subentity).self))\n", at: node, in: context)
        }
        let list = lines.isEmpty ? "" : "    var subentities: [any PolyStoreCore.Model.Type] = []\n\(lines.joined())#sourceLocation()\n"
        members.append(
            """
            \(raw: isSubclass ? "override " : "")\(raw: access)\(raw: overridable) var _$inheritance: PolyStoreCore.ModelInheritance {
            \(raw: list)    \(raw: list.isEmpty ? "" : "return ")PolyStoreCore.ModelInheritance(isAbstract: \(raw: isAbstract), superentity: \(raw: parent), subentities: \(raw: lines.isEmpty ? "[]" : "subentities"))
            }
            """)
        if !isSubclass { for function in validationFunctions { members.append("\(raw: access)func \(raw: function)() throws {}") } }
        return members
    }

    /// The validation functions that the root of a hierarchy does not declare itself. The root must declare all of them: a subclass cannot override a member of
    /// a protocol extension, and its own function with the same name would never be called.
    var validationFunctions: [String] { ["validate", "validateForDelete"].filter { !functions.contains($0) } }
}
