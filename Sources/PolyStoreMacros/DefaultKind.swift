import SwiftSyntax

extension ModelProperty {
    /// A Boolean value that indicates whether the default is an expression that can have another value for each object, like `UUID()` and `makeToken()`.
    var hasComputedDefault: Bool { defaultValue.map { isComputed(Syntax($0)) } ?? false }

    private func isComputed(_ node: Syntax) -> Bool {
        if node.is(ClosureExprSyntax.self) { return true }
        if let call = node.as(FunctionCallExprSyntax.self), isComputed(call) { return true }
        // `Date.now` and `.now`.
        if let member = node.as(MemberAccessExprSyntax.self), member.declName.baseName.text == "now" { return true }
        return node.children(viewMode: .sourceAccurate).contains { isComputed($0) }
    }

    /// Returns whether a call has another value each time. Its arguments are examined by the caller.
    private func isComputed(_ call: FunctionCallExprSyntax) -> Bool {
        var called = call.calledExpression
        if let generic = called.as(GenericSpecializationExprSyntax.self) { called = generic.expression }
        if called.is(ArrayExprSyntax.self) || called.is(DictionaryExprSyntax.self) { return false }
        var name = called.trimmedDescription
        if let member = called.as(MemberAccessExprSyntax.self) {
            name = member.declName.baseName.text
            if name == "init" { name = member.base?.trimmedDescription ?? (type.hasSuffix("?") ? String(type.dropLast()) : type) }
        }
        name = String(name.prefix { $0 != "<" && $0 != "[" })
        if let module = name.lastIndex(of: ".") { name = String(name[name.index(after: module)...]) }
        // `[String].init()` leaves an empty name. A name that begins with a capital letter is a type, and a call of it is an initializer.
        guard let first = name.first else { return false }
        guard first.isUppercase else { return true }
        if call.arguments.isEmpty { return !Self.emptyTypes.contains(name) }
        return call.arguments.contains { $0.label?.text.contains("Now") ?? false }
    }

    /// The types whose initializer without arguments has the same value each time.
    private static let emptyTypes: Set<String> = [
        "Array", "Bool", "Data", "Decimal", "Dictionary", "Double", "Float", "Int", "Int8", "Int16", "Int32", "Int64", "Set", "String",
        "UInt",
        "UInt8", "UInt16", "UInt32", "UInt64",
    ]
}
