import SwiftSyntax

/// The code that `@Model` generates for a class in a hierarchy.
extension ModelClass {
    var isInHierarchy: Bool { isSubclass || !subentities.isEmpty }

    /// The modifier of static members.
    var overridable: String { subentities.isEmpty ? "static" : "class" }

    /// An additional argument of the accessors if the class may inherit properties, so that the indexes of its own do not begin at 0.
    var ownerArgument: String { inherited == nil ? "" : ", in: \(quoted(name))" }

    /// The name of a function that returns the key paths of a class's properties for any subclass, because a key path has a fixed root class.
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

    /// The position of the class in its hierarchy.
    var hierarchyMembers: [DeclSyntax] {
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
        // Declared with its own type, so that a listed class that does not inherit from it fails to compile.
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

    /// The validation functions that the root of a hierarchy does not declare itself. The root must declare all of them: a subclass cannot override a member of
    /// a protocol extension, and its own function with the same name would never be called.
    var validationFunctions: [String] { ["validate", "validateForDelete"].filter { !functions.contains($0) } }
}
