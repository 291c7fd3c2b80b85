import SwiftSyntax
import SwiftSyntaxMacros

/// Checks that require type information from the compiler: whether an attribute's type can be stored, and whether an inverse exists.
extension ModelClass {
    /// Generates a function that is never called. Each of its statements fails to compile for one kind of error, and `#sourceLocation` attributes the error
    /// to the property in the user's file instead of the expansion.
    func checkMembers(in context: some MacroExpansionContext) -> [DeclSyntax] {
        let lines = properties.flatMap { property in
            checks(of: property).map { located("    \($0.code)\n", at: $0.position, in: context) }
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

    /// Returns a line of code whose errors the compiler reports at a node of the user's file. `#sourceLocation()` must follow the last one.
    func located(_ line: String, at node: Syntax, in context: some MacroExpansionContext) -> String {
        guard let location = context.location(of: node, at: .afterLeadingTrivia, filePathMode: .filePath) else { return line }
        return "#sourceLocation(file: \(location.file), line: \(location.line))\n\(line)"
    }

    /// Returns members whose errors the compiler reports at the class in the user's file.
    func located(_ members: [DeclSyntax], in context: some MacroExpansionContext) -> [DeclSyntax] {
        guard let position, let location = context.location(of: position, at: .afterLeadingTrivia, filePathMode: .filePath),
            let line = Int(location.line.trimmedDescription), line > 1
        else { return members }
        // The compiler separates members by an empty line, which counts.
        return members.flatMap { ["#sourceLocation(file: \(location.file), line: \(raw: line - 1))", $0] } + ["#sourceLocation()"]
    }

    private func checks(of property: ModelProperty) -> [(code: String, position: Syntax)] {
        guard let relationship = property.relationship else {
            // An attribute without a default value starts with the empty value of its type.
            let check = property.defaultValue == nil && !property.isOptional ? "required" : "attribute"
            return [("PolyStoreCore.ModelCheck.\(check)((\(property.type)).self)", property.position)]
        }
        var checks: [(String, Syntax)] = []
        if !Identifier.metatypeMembers.contains(property.name) {
            checks.append(("PolyStoreCore.ModelCheck.relationship(\(property.keyPath(name)))", property.position))
        }
        if let inverse = relationship.inverse, let position = relationship.inversePosition, !Identifier.metatypeMembers.contains(inverse) {
            // In two statements: in one, the compiler does not find that a class inherits from the destination.
            let check = "inverse\(relationship.index)"
            let path = "\\\(relationship.destination).\(Identifier.code(inverse))"
            checks.append(("let \(check) = PolyStoreCore.ModelCheck.inverse(\(path))", position))
            checks.append(("\(check).check(\(name).self)", position))
        }
        return checks
    }
}
