import SwiftDiagnostics
import SwiftSyntax

/// A parser for one `var` or `let` of a model class.
struct PropertyReader {
    /// The property; `nil` if it is not stored or invalid.
    private(set) var property: ModelProperty?

    /// Returns whether the macro generates accessors for a variable.
    static func isPersisted(_ variable: VariableDeclSyntax) -> Bool {
        var ignored = Problems()
        return PropertyReader(variable, className: "", problems: &ignored).property != nil
    }

    /// Returns the name of a computed or transient property in generated code; nil for other properties, and for those that may not have a key path.
    static func unstored(_ variable: VariableDeclSyntax) -> String? {
        let unusual = ["static", "class", "override", "lazy", "async", "isolated"]
        guard !variable.modifiers.contains(where: { unusual.contains($0.name.text) }), variable.bindings.count == 1,
            let binding = variable.bindings.first, let pattern = binding.pattern.as(IdentifierPatternSyntax.self),
            let type = binding.typeAnnotation?.type, isCopyable(type)
        else { return nil }
        let isTransient = variable.attributes.named("Transient") != nil
        guard variable.attributes.count == (isTransient ? 1 : 0) else { return nil }
        switch binding.accessorBlock?.accessors {
        case .getter: break
        case .accessors(let accessors):
            guard accessors.contains(where: { $0.accessorSpecifier.text == "get" }), accessors.allSatisfy({ $0.effectSpecifiers == nil })
            else { return nil }
        case nil: if !isTransient { return nil }
        }
        return pattern.identifier.text
    }

    /// Returns whether a type is certainly copyable, as the value of a key path must be. The syntax of a name does not show it.
    private static func isCopyable(_ type: TypeSyntax) -> Bool {
        if let wrapped = type.wrappedOptional { return isCopyable(wrapped) }
        if type.is(ArrayTypeSyntax.self) || type.is(DictionaryTypeSyntax.self) || type.is(FunctionTypeSyntax.self) { return true }
        if let tuple = type.as(TupleTypeSyntax.self) { return tuple.elements.allSatisfy { isCopyable($0.type) } }
        return copyableTypes.contains(type.as(IdentifierTypeSyntax.self)?.name.text ?? "")
    }

    private static let copyableTypes: Set<String> = [
        "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Double", "Float", "String",
        "Substring",
        "Character", "Date", "Data", "UUID", "URL", "Decimal", "TimeInterval", "Duration", "Array", "Set", "Dictionary",
    ]

    init(_ variable: VariableDeclSyntax, className: String, problems: inout Problems) {
        let modifiers = variable.modifiers.map(\.name.text)
        let attribute = variable.attributes.named("Attribute")
        let relationship = variable.attributes.named("Relationship")
        guard !modifiers.contains("static"), !modifiers.contains("class") else { return }
        guard let binding = variable.bindings.first else { return }
        if let accessors = binding.accessorBlock {
            if Self.hasObservers(accessors) {
                problems.add(
                    "observers",
                    "A stored attribute cannot have willSet or didSet: its accessors are written by @Model. Observe the object instead.",
                    at: accessors)
            }
            return
        }
        if variable.attributes.named("Transient") != nil {
            Self.checkTransient(variable, binding, attribute ?? relationship, &problems)
            return
        }
        guard variable.bindings.count == 1 else {
            problems.add("bindings", "Declare each stored attribute in a line of its own.", at: variable)
            return
        }
        guard let pattern = binding.pattern.as(IdentifierPatternSyntax.self) else {
            problems.add("pattern", "A stored attribute needs a name of its own, not a pattern.", at: binding.pattern)
            return
        }
        let identifier = pattern.identifier.text
        guard Self.check(variable, modifiers, identifier, &problems), Self.checkAttributes(variable, identifier, &problems) else { return }
        // Uses the original node, because a copy has no source position for diagnostics.
        guard let type = Self.type(of: binding) else {
            Self.reportMissingType(binding, identifier, &problems)
            return
        }
        if let unwrapped = type.as(ImplicitlyUnwrappedOptionalTypeSyntax.self) {
            let optional = OptionalTypeSyntax(wrappedType: unwrapped.wrappedType, trailingTrivia: type.trailingTrivia)
            problems.add(
                "implicitlyUnwrapped", "\(identifier) cannot be implicitly unwrapped; make it optional.", at: type,
                fixIts: [.replace("use '?'", type, with: optional)])
            return
        }
        if let attribute, relationship != nil {
            problems.add("both", "\(identifier) is an attribute or a relationship, not both; remove one of the two.", at: attribute)
            return
        }
        var read = ModelProperty(
            name: identifier.trimmingBackticks, identifier: identifier, storedName: identifier.trimmingBackticks,
            type: type.trimmedDescription,
            isOptional: type.wrappedOptional != nil, defaultValue: binding.initializer?.value.trimmed,
            position: Syntax(binding.typeAnnotation?.type) ?? Syntax(binding))
        Self.readNames(attribute ?? relationship, &read, &problems)
        if let relationship {
            guard Self.readRelationship(relationship, type, binding, &read, &problems) else { return }
        } else if let attribute {
            Self.readOptions(attribute, &read, &problems)
        }
        property = read
    }

    private static func hasObservers(_ block: AccessorBlockSyntax) -> Bool {
        guard case .accessors(let list) = block.accessors else { return false }
        return list.contains { ["willSet", "didSet"].contains($0.accessorSpecifier.text) }
    }

    private static func checkTransient(
        _ variable: VariableDeclSyntax, _ binding: PatternBindingSyntax, _ marker: AttributeSyntax?, _ problems: inout Problems
    ) {
        if let marker { problems.add("transient", "A transient property is not stored; remove this attribute or @Transient.", at: marker) }
        let isOptional = binding.typeAnnotation.map { $0.type.wrappedOptional != nil } ?? false
        if binding.initializer == nil, !isOptional {
            problems.add(
                "transientDefault", "A transient property needs a default, or an optional type: objects are made by the framework.",
                at: binding)
        }
    }

    private static func check(
        _ variable: VariableDeclSyntax, _ modifiers: [String], _ identifier: String, _ problems: inout Problems
    ) -> Bool {
        if variable.bindingSpecifier.tokenKind == .keyword(.let) {
            let fixed = variable.with(
                \.bindingSpecifier, .keyword(.var, leadingTrivia: variable.bindingSpecifier.leadingTrivia, trailingTrivia: .space))
            problems.add(
                "constant",
                "\(identifier) is constant: a stored attribute is set after its object is made. Use var, or mark it @Transient.",
                at: variable.bindingSpecifier, fixIts: [.replace("use 'var'", variable, with: fixed)])
            return false
        }
        for modifier in ["lazy", "weak", "unowned"] where modifiers.contains(modifier) {
            problems.add(
                "modifier", "\(identifier) cannot be \(modifier): the store keeps its value. Remove '\(modifier)', or mark it @Transient.",
                at: variable)
            return false
        }
        let reserved = ["objectID", "isFault", "isDeleted", "isInserted", "hasChanges", "changedKeys"]
        if reserved.contains(identifier.trimmingBackticks) || identifier.hasPrefix("_$") {
            problems.add(
                "reserved", "\(identifier) is a name of the framework; choose another and keep the stored one with `name:`.", at: variable)
            return false
        }
        return true
    }

    /// Reports attributes that would give the property accessors or an actor. Their names begin with a capital letter, as those of all types and macros.
    private static func checkAttributes(_ variable: VariableDeclSyntax, _ identifier: String, _ problems: inout Problems) -> Bool {
        for case .attribute(let attribute) in variable.attributes {
            let written = attribute.attributeName
            let name =
                written.as(IdentifierTypeSyntax.self)?.name.text ?? written.as(MemberTypeSyntax.self)?.name.text
                ?? written.trimmedDescription
            guard name.trimmingBackticks.first?.isUppercase ?? false, !["Attribute", "Relationship", "Transient"].contains(name) else {
                continue
            }
            let text = "@\(written.trimmedDescription)"
            if name.hasSuffix("Actor") {
                problems.add(
                    "isolatedProperty",
                    "\(identifier) belongs to no actor: an object belongs to its context, with all of its values. Remove \(text).",
                    at: attribute)
            } else {
                problems.add(
                    "wrapper",
                    "\(identifier) cannot have \(text): @Model writes the accessors of a stored attribute, so a property wrapper, a global actor or another macro cannot apply to it. Remove \(text), or mark the property with @Transient.",
                    at: attribute)
            }
            return false
        }
        return true
    }

    private static func reportMissingType(_ binding: PatternBindingSyntax, _ identifier: String, _ problems: inout Problems) {
        problems.add(
            "untyped",
            "\(identifier) needs its type written out: a macro sees the text of a declaration, and this default does not name its type.",
            at: binding)
    }

    /// Returns the type of a property: its annotation, or the type of its default value, which is a literal or an initializer call.
    static func type(of binding: PatternBindingSyntax) -> TypeSyntax? {
        if let type = binding.typeAnnotation?.type { return type }
        guard let value = binding.initializer?.value else { return nil }
        switch value.kind {
        case .booleanLiteralExpr: return "Bool"
        case .integerLiteralExpr: return "Int"
        case .floatLiteralExpr: return "Double"
        case .stringLiteralExpr: return "String"
        case .prefixOperatorExpr:
            let literal = value.cast(PrefixOperatorExprSyntax.self)
            guard literal.operator.text == "-" else { return nil }
            if literal.expression.is(IntegerLiteralExprSyntax.self) { return "Int" }
            return literal.expression.is(FloatLiteralExprSyntax.self) ? "Double" : nil
        case .functionCallExpr:
            // `Date()`, `Set<String>()`: a name that begins with a capital letter is a type, and a call of it is an initializer.
            let called = value.cast(FunctionCallExprSyntax.self).calledExpression
            guard
                called.is(DeclReferenceExprSyntax.self) || called.is(GenericSpecializationExprSyntax.self)
                    || called.is(ArrayExprSyntax.self)
                    || called.is(DictionaryExprSyntax.self)
            else { return nil }
            let text = called.trimmedDescription
            return text.first.map { $0.isUppercase || $0 == "[" } == true ? TypeSyntax(stringLiteral: text) : nil
        default: return nil
        }
    }

    private static func readNames(_ marker: AttributeSyntax?, _ read: inout ModelProperty, _ problems: inout Problems) {
        for label in ["name", "originalName"] {
            guard let argument = marker?.argument(label), !argument.is(NilLiteralExprSyntax.self) else { continue }
            guard let text = argument.plainString, !text.isEmpty else {
                problems.add("storedName", "\(label) must be a string literal without interpolation, and not empty.", at: argument)
                continue
            }
            if label == "name" { read.storedName = text } else { read.originalName = text }
        }
    }

    private static func readOptions(_ attribute: AttributeSyntax, _ read: inout ModelProperty, _ problems: inout Problems) {
        for argument in attribute.labeledArguments where argument.label == nil {
            if let call = argument.expression.as(FunctionCallExprSyntax.self), let rule = call.calledExpression.memberName,
                rules.contains(rule)
            {
                checkRule(rule, call, read, &problems)
                read.options.append(".\(rule)(\(call.arguments.trimmedDescription))")
                continue
            }
            guard let option = argument.expression.memberName, ["unique", "indexed"].contains(option) else {
                problems.add(
                    "option",
                    "@Attribute knows .unique, .indexed, .range(…), .length(…) and .matches(…), not \(argument.expression.trimmedDescription).",
                    at: argument)
                continue
            }
            read.options.append(".\(option)")
        }
    }

    private static let rules: Set<String> = ["range", "length", "matches"]

    /// Reports rules that cannot apply to the written type; other invalid rules are reported when the stack is created.
    private static func checkRule(_ rule: String, _ call: FunctionCallExprSyntax, _ read: ModelProperty, _ problems: inout Problems) {
        let type = TypeSyntax(stringLiteral: read.type).wrappedOptional?.trimmedDescription ?? read.type
        let texts: Set<String> = ["String", "URL"]
        let numbers: Set<String> = [
            "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Float", "Double", "Decimal", "Date",
        ]
        let misfits: Set<String> =
            switch rule {
            case "range": texts.union(["Bool", "Data", "UUID"])
            case "length": numbers.union(["Bool", "UUID"])
            default: numbers.union(["Bool", "Data", "UUID"])
            }
        if misfits.contains(type) {
            let what =
                ["range": "numbers and dates have a range", "length": "texts and data have a length"][rule] ?? "texts have a pattern"
            problems.add("rule", "\(read.name) is \(type), and only \(what). Remove .\(rule).", at: call)
        }
    }

    /// - Returns: A Boolean value that indicates whether the relationship is valid.
    private static func readRelationship(
        _ marker: AttributeSyntax, _ type: TypeSyntax, _ binding: PatternBindingSyntax, _ read: inout ModelProperty,
        _ problems: inout Problems
    ) -> Bool {
        var relationship = ModelProperty.Relationship(
            destination: "", isToMany: true, isOrdered: false, inverse: nil,
            deleteRule: marker.argument("deleteRule")?.memberName.map { ".\($0)" } ?? ".nullify",
            isRequired: marker.argument("required")?.trimmedDescription ?? "false",
            minCount: marker.argument("min")?.trimmedDescription ?? "0",
            maxCount: marker.argument("max")?.trimmedDescription ?? "nil")
        if let member = type.genericArgument(of: "Set") {
            relationship.destination = member.trimmedDescription
        } else if let member = type.as(ArrayTypeSyntax.self)?.element ?? type.genericArgument(of: "Array") {
            relationship.destination = member.trimmedDescription
            relationship.isOrdered = true
        } else if let target = type.wrappedOptional {
            relationship.destination = target.trimmedDescription
            relationship.isToMany = false
        } else {
            problems.add(
                "relationshipType",
                "\(read.name) must be optional (to-one), a Set or an array (to-many): the object at the other end may be deleted.",
                at: type,
                fixIts: [
                    .replace(
                        "make it optional", type, with: OptionalTypeSyntax(wrappedType: type.trimmed, trailingTrivia: type.trailingTrivia))
                ])
            return false
        }
        if let initializer = binding.initializer {
            var fixed = binding
            fixed.initializer = nil
            problems.add(
                "relationshipDefault", "A relationship has no default: it starts empty.", at: initializer,
                fixIts: [.replace("remove the default", binding, with: fixed)])
            return false
        }
        if let inverse = marker.argument("inverse"), !inverse.is(NilLiteralExprSyntax.self) {
            guard let text = inverse.plainString?.trimmingBackticks, Identifier.isValid(text) else {
                problems.add(
                    "inverse", "inverse takes the name of a property of \(relationship.destination), as a string literal.", at: inverse)
                return false
            }
            relationship.inverse = text
            relationship.inversePosition = Syntax(inverse)
        }
        read.relationship = relationship
        return true
    }
}
