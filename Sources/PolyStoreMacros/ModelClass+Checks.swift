import SwiftSyntax
import SwiftSyntaxMacros

/// Checks that require type information from the compiler: whether an attribute's type can be stored, and whether an inverse exists.
extension ModelClass {
    /// Generates a function that is never called. Each of its statements fails to compile for one kind of error, and `#sourceLocation` attributes the error
    /// to the property in the user's file instead of the expansion.
    func checkMembers(in context: some MacroExpansionContext) -> [DeclSyntax] {
        let lines = properties.compactMap { property -> String? in
            guard let check = check(property) else { return nil }
            guard let location = context.location(of: property.position, at: .afterLeadingTrivia, filePathMode: .filePath) else {
                return "    \(check)\n"
            }
            return "#sourceLocation(file: \(location.file), line: \(location.line))\n    \(check)\n"
        }
        guard !lines.isEmpty else { return [] }
        return [
            """
            private static func _$checkProperties() {
            \(raw: lines.joined())#sourceLocation()
            }
            """
        ]
    }

    private func check(_ property: ModelProperty) -> String? {
        guard let relationship = property.relationship else {
            // An attribute without a default value starts with the empty value of its type.
            let check = property.defaultValue == nil && !property.isOptional ? "required" : "attribute"
            return "PolyStoreCore.ModelCheck.\(check)((\(property.type)).self)"
        }
        return relationship.inverse.map { "PolyStoreCore.ModelCheck.inverse(\\\(relationship.destination).\($0)).check()" }
    }
}
