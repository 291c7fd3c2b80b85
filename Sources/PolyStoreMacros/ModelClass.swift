import SwiftDiagnostics
import SwiftSyntax
import SwiftSyntaxMacros

/// The syntax of a class with `@Model`, parsed once for the roles of the macro.
struct ModelClass {
    let name: String
    let access: String
    let entityName: String
    let originalName: String?
    /// The superclass, or the first protocol, as written. The syntax does not distinguish them.
    let inherited: String?
    /// The last name in ``inherited``.
    let inheritedName: String?
    /// A Boolean value that indicates whether the class inherits from another model. Known only to roles that query the compiler; the others use ``inherited``.
    let isSubclass: Bool
    let isAbstract: Bool
    /// The direct subclasses, as code.
    private(set) var subentities: [String] = []
    /// The arguments that name the direct subclasses, at which compiler errors about them are reported.
    private(set) var subentityNodes: [Syntax] = []
    private(set) var properties: [ModelProperty] = []
    /// The names, in generated code, of computed and transient properties, for messages.
    private(set) var unstoredProperties: [String] = []
    /// The full-text indexes.
    var searches: [DeclaredSearch] = []
    private(set) var indexes: [(fields: [IndexedPath], isUnique: Bool)] = []
    /// The names of the declared functions without parameters.
    private(set) var functions: Set<String> = []
    var problems = Problems()
    /// A Boolean value that indicates whether an attribute such as `@MainActor` isolates the class, which is an error.
    private(set) var isIsolated = false
    /// A Boolean value that indicates whether code can be generated for the class.
    private(set) var isUsable = true
    /// The types in which the class is declared, and extensions of types, innermost first.
    private let lexicalContext: [Syntax]
    /// A Boolean value that indicates whether the class itself declares that it is `Sendable`, which is an error.
    private(set) var isDeclaredSendable = false
    /// A Boolean value that indicates whether an extension of the class is impossible, because only the type around it can access it. It is an error.
    private(set) var isPrivateInside = false
    /// A Boolean value that indicates whether the class itself declares the conformance to `Model`.
    private(set) var isDeclaredModel = false
    /// The keyword `class`, at which compiler errors about the class as a whole are reported.
    private(set) var position: Syntax?

    /// - Parameter missing: The conformances that the class does not have yet; a subclass inherits them from its superclass. `nil` if unknown.
    init(
        _ node: AttributeSyntax, _ declaration: some DeclGroupSyntax, in context: some MacroExpansionContext, missing: [TypeSyntax]? = nil,
        isForMember: Bool = false
    ) {
        let type = declaration.as(ClassDeclSyntax.self)
        // The context of a member begins with the class.
        lexicalContext = isForMember ? Array(context.lexicalContext.dropFirst()) : context.lexicalContext
        name = type?.name.trimmed.text ?? ""
        access = Self.access(declaration.modifiers)
        entityName = node.argument("entity")?.plainString ?? name.trimmingBackticks
        originalName = node.argument("originalName")?.plainString
        let inheritedTypes = type?.inheritanceClause?.inheritedTypes.map(\.type) ?? []
        let protocols = ["Model", "PolyStore.Model", "PolyStoreCore.Model"]
        let declaredModel = inheritedTypes.contains { protocols.contains($0.trimmedDescription) }
        isDeclaredModel = declaredModel
        // `Sendable` is an error, and none of these is a superclass.
        let first = inheritedTypes.first { !$0.isSendable && !protocols.contains($0.trimmedDescription) }
        inherited = first?.trimmedDescription
        inheritedName = first?.as(MemberTypeSyntax.self)?.name.text ?? first?.trimmedDescription
        isSubclass = first != nil && !declaredModel && missing.map { !$0.contains { $0.trimmedDescription.hasSuffix("Model") } } ?? false
        isAbstract = node.argument("isAbstract")?.trimmedDescription == "true"
        checkArguments(node)
        readSubentities(node)
        guard let type else {
            isUsable = false
            problems.add(
                "notAClass", "@Model needs a class: an object has an identity. Make this a final class.", at: declaration.introducerNode)
            return
        }
        position = Syntax(type.classKeyword)
        // The second of two attributes only reports itself.
        if isRepeated(node, type, context) {
            isUsable = false
            problems.add("repeated", "\(name) has @Model twice. Remove one of the two.", at: node)
            return
        }
        checkSurroundings(type)
        checkClass(type)
        checkConformances(type)
        for member in type.memberBlock.members { read(member.decl) }
        assignIndexes()
        checkNames(type, missing)
        checkSearches(inherits: isSubclass || inherited != nil && missing == nil)
    }

    /// Returns the access level of the class. `open` members would require an open class.
    private static func access(_ modifiers: DeclModifierListSyntax) -> String {
        for modifier in modifiers {
            switch modifier.name.tokenKind {
            case .keyword(.public), .keyword(.open): return "public "
            case .keyword(.package): return "package "
            case .keyword(.fileprivate), .keyword(.private): return "fileprivate "
            default: continue
            }
        }
        return ""
    }

    var fields: [ModelProperty] { properties.filter { $0.field != nil } }
    var relationships: [ModelProperty] { properties.filter { $0.relationship != nil } }

    // MARK: The class

    private mutating func checkArguments(_ node: AttributeSyntax) {
        for label in ["entity", "originalName"] {
            guard let argument = node.argument(label), !argument.is(NilLiteralExprSyntax.self) else { continue }
            if argument.plainString?.isEmpty ?? true {
                problems.add("entityName", "\(label) must be a string literal without interpolation, and not empty.", at: argument)
            }
        }
    }

    private mutating func readSubentities(_ node: AttributeSyntax) {
        if let argument = node.argument("isAbstract"), !argument.is(BooleanLiteralExprSyntax.self) {
            problems.add("abstract", "isAbstract must be true or false, written out.", at: argument)
        }
        guard let start = node.labeledArguments.firstIndex(where: { $0.label?.text == "subentities" }) else {
            if isAbstract {
                problems.add(
                    "abstract", "An abstract model has no objects of its own: list the classes that inherit from it as its subentities.",
                    at: node)
            }
            return
        }
        for (ownerArgument, argument) in node.labeledArguments[start...].enumerated() where ownerArgument == 0 || argument.label == nil {
            guard let path = argument.expression.plainString.flatMap(Identifier.path) else {
                problems.add("subentity", "subentities takes the names of classes, as string literals.", at: argument.expression)
                continue
            }
            let name = path.map(Identifier.code).joined(separator: ".")
            if name == self.name {
                problems.add("subentity", "\(name) lists itself: name the classes that inherit from it.", at: argument.expression)
                continue
            }
            if subentities.contains(name) { problems.add("subentity", "\(name) is listed twice.", at: argument.expression) }
            subentities.append(name)
            subentityNodes.append(Syntax(argument.expression))
        }
    }

    // MARK: Surroundings

    /// Returns whether an attribute is not the first `@Model` of a class.
    private func isRepeated(_ node: AttributeSyntax, _ type: ClassDeclSyntax, _ context: some MacroExpansionContext) -> Bool {
        let all = type.attributes.compactMap { $0.as(AttributeSyntax.self) }.filter { $0.modelName == node.modelName }
        guard all.count > 1, let first = context.location(of: all[0]), let own = context.location(of: node) else { return false }
        return first.line.trimmedDescription != own.line.trimmedDescription
            || first.column.trimmedDescription != own.column.trimmedDescription
    }

    /// A Boolean value that indicates whether the class is in an extension. Its syntax does not show whether the extended type is generic.
    var isInExtension: Bool { lexicalContext.contains { $0.is(ExtensionDeclSyntax.self) } }

    private mutating func checkSurroundings(_ type: ClassDeclSyntax) {
        let types = lexicalContext.compactMap { $0.asProtocol(DeclGroupSyntax.self) }
        // The compiler refuses attached macros of local types. Every expansion would add errors.
        guard types.count == lexicalContext.count else {
            isUsable = false
            return
        }
        for outer in lexicalContext {
            guard let clause = outer.asProtocol(WithGenericParametersSyntax.self), clause.genericParameterClause != nil else { continue }
            let outerName = outer.asProtocol(NamedDeclSyntax.self)?.name.text ?? "the type"
            problems.add(
                "genericParent",
                "A model class cannot be inside the generic type \(outerName): an entity has one set of attributes. Move \(name) out of \(outerName).",
                at: type.name)
            break
        }
        if let modifier = type.modifiers.first(where: { $0.name.tokenKind == .keyword(.private) }), !types.isEmpty {
            isPrivateInside = true
            let fixed = modifier.with(
                \.name, .keyword(.fileprivate, leadingTrivia: modifier.name.leadingTrivia, trailingTrivia: modifier.name.trailingTrivia))
            problems.add(
                "privateInside",
                "A model class inside another type cannot be private: its conformance is declared outside of that type. Make it fileprivate.",
                at: modifier, fixIts: [.replace("use 'fileprivate'", modifier, with: fixed)])
        }
    }

    private mutating func checkConformances(_ type: ClassDeclSyntax) {
        guard let declared = type.inheritanceClause?.inheritedTypes.first(where: \.type.isSendable) else { return }
        isDeclaredSendable = true
        problems.add(
            "sendable",
            "A model class cannot be Sendable: its objects belong to one context; pass their objectID instead. Remove \(declared.type.trimmedDescription).",
            at: declared.type, preventsExpansion: false)
    }

    private mutating func checkClass(_ type: ClassDeclSyntax) {
        let isFinal = type.modifiers.contains { $0.name.tokenKind == .keyword(.final) }
        if isFinal, let listed = subentities.first {
            problems.add(
                "finalParent", "\(name) is final, so \(listed) cannot inherit from it; remove 'final' or its subentities.",
                at: type.classKeyword)
        }
        if !isFinal, subentities.isEmpty {
            let final = DeclModifierSyntax(name: .keyword(.final), trailingTrivia: .space)
            var fixed = type
            if type.modifiers.isEmpty {
                fixed.modifiers = [final.with(\.leadingTrivia, type.classKeyword.leadingTrivia)]
                fixed.classKeyword = type.classKeyword.with(\.leadingTrivia, [])
            } else {
                fixed.modifiers = type.modifiers + [final]
            }
            problems.add(
                "notFinal",
                "A model class must be final: objects are made by the framework, which cannot know a subclass. One that others inherit from lists them: @Model(subentities: \"…\").",
                at: type.classKeyword,
                fixIts: [.replace("add 'final'", type, with: fixed)])
        }
        if let parameters = type.genericParameterClause {
            problems.add("generic", "A model class cannot be generic: an entity has one set of attributes.", at: parameters)
        }
        for case .attribute(let attribute) in type.attributes where attribute.attributeName.trimmedDescription.hasSuffix("Actor") {
            isIsolated = true
            problems.add(
                "isolated",
                "A model class belongs to no actor: its objects belong to a context. Remove @\(attribute.attributeName.trimmedDescription).",
                at: attribute)
        }
    }

    // MARK: Members

    private mutating func read(_ member: DeclSyntax) {
        if let initializer = member.as(InitializerDeclSyntax.self),
            !initializer.modifiers.contains(where: { $0.name.text == "convenience" })
        {
            problems.add(
                "initializer",
                "A model class has no init of its own: objects are made by `transaction.create(Into<\(name)>())`. Remove it.",
                at: initializer.initKeyword)
        }
        if let conditional = member.as(IfConfigDeclSyntax.self) { checkConditional(conditional) }
        if let macro = member.as(MacroExpansionDeclSyntax.self), ["Index", "Unique"].contains(macro.macroName.text) { readIndex(macro) }
        if let macro = member.as(MacroExpansionDeclSyntax.self), macro.macroName.text == "Search" { readSearch(macro) }
        if let function = member.as(FunctionDeclSyntax.self), function.signature.parameterClause.parameters.isEmpty {
            functions.insert(function.name.text)
        }
        guard let variable = member.as(VariableDeclSyntax.self) else { return }
        guard let property = PropertyReader(variable, className: name, problems: &problems).property else {
            if let unstored = PropertyReader.unstored(variable) { unstoredProperties.append(unstored) }
            return
        }
        properties.append(property)
    }

    /// Reports stored properties and indexes inside `#if`, because the macro sees all branches and cannot determine which one is compiled.
    private mutating func checkConditional(_ conditional: IfConfigDeclSyntax) {
        for clause in conditional.clauses {
            guard case .decls(let members)? = clause.elements else { continue }
            for member in members.map(\.decl) {
                if let nested = member.as(IfConfigDeclSyntax.self) { checkConditional(nested) }
                if let variable = member.as(VariableDeclSyntax.self), PropertyReader.isPersisted(variable),
                    let name = variable.bindings.first?.pattern.trimmedDescription
                {
                    problems.add(
                        "conditional",
                        "\(name) cannot be stored: @Model cannot know which branch of #if is compiled. Move it out of the #if, or mark it @Transient.",
                        at: variable)
                }
                if let macro = member.as(MacroExpansionDeclSyntax.self), ["Index", "Unique", "Search"].contains(macro.macroName.text) {
                    problems.add(
                        "conditional", "#\(macro.macroName.text) has no effect inside #if. Move it out of the #if.", at: macro)
                }
            }
        }
    }

    private mutating func readIndex(_ macro: MacroExpansionDeclSyntax) {
        var fields: [IndexedPath] = []
        for argument in macro.arguments {
            guard let path = argument.expression.as(KeyPathExprSyntax.self).flatMap({ IndexedPath($0.components) }) else {
                problems.add("index", "#\(macro.macroName.text) takes key paths to properties of the class, such as \\.name.", at: argument)
                return
            }
            if !path.keys.isEmpty, macro.macroName.text == "Unique" {
                problems.add(
                    "index",
                    "A field of a Codable value cannot be unique. Store the value in a property of its own, and declare that as unique.",
                    at: argument)
                return
            }
            fields.append(path)
        }
        if fields.isEmpty || Set(fields).count != fields.count {
            problems.add("index", "#\(macro.macroName.text) names no property, or one twice.", at: macro)
            return
        }
        indexes.append((fields, macro.macroName.text == "Unique"))
    }

    private mutating func assignIndexes() {
        var field = 0
        var relationship = 0
        for index in properties.indices {
            if properties[index].relationship?.isToMany != true {
                properties[index].field = field
                field += 1
            }
            if properties[index].relationship != nil {
                properties[index].relationship?.index = relationship
                relationship += 1
            }
        }
    }

    private mutating func checkNames(_ type: ClassDeclSyntax, _ missing: [TypeSyntax]?) {
        var stored: [String: String] = [:]
        for property in properties {
            if let other = stored.updateValue(property.name, forKey: property.storedName.lowercased()) {
                problems.add(
                    "duplicateName",
                    "\(other) and \(property.name) would have the same stored name, or names that differ in case only; give one another `name:`.",
                    at: type.name)
            }
        }
        let bySwiftName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        for index in indexes.indices {
            for position in indexes[index].fields.indices {
                let field = indexes[index].fields[position].property
                // An inherited property is resolved when the schema is created.
                if bySwiftName[field] == nil, isSubclass || inherited != nil && missing == nil { continue }
                if bySwiftName[field]?.relationship != nil, !indexes[index].fields[position].keys.isEmpty {
                    problems.add(
                        "index",
                        "An index leads from \(field) to a property of another object. Declare an index of that class instead.",
                        at: type.name)
                    continue
                }
                guard let property = bySwiftName[field], property.field != nil else {
                    problems.add(
                        "index", "An index names \(field), which is not a stored attribute or to-one relationship of \(name).",
                        at: type.name)
                    continue
                }
                indexes[index].fields[position].property = property.storedName
            }
        }
    }
}

extension String {
    /// `default` for the identifier `` `default` ``.
    var trimmingBackticks: String { hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self }
}

extension AttributeSyntax {
    /// The name without the module: `Model` for `@PolyStore.Model`.
    fileprivate var modelName: String {
        attributeName.as(MemberTypeSyntax.self)?.name.text ?? attributeName.as(IdentifierTypeSyntax.self)?.name.text ?? ""
    }
}

extension TypeSyntax {
    /// A Boolean value that indicates whether the type is `Sendable`, with or without `@unchecked` and the name of the module.
    var isSendable: Bool {
        if let attributed = self.as(AttributedTypeSyntax.self) { return attributed.baseType.isSendable }
        if let composition = self.as(CompositionTypeSyntax.self) { return composition.elements.contains { $0.type.isSendable } }
        return ["Sendable", "Swift.Sendable"].contains(trimmedDescription)
    }
}

extension DeclGroupSyntax {
    /// The keyword `struct`, `enum`, …, at which a problem with the whole declaration is reported.
    var introducerNode: Syntax { Syntax(introducer) }
}
