import SwiftDiagnostics
import SwiftSyntax

/// A class under `@Model`, read once: what the roles of the macro write from.
struct ModelClass {
    let name: String
    let access: String
    let entityName: String
    let originalName: String?
    private(set) var properties: [ModelProperty] = []
    private(set) var indexes: [(fields: [String], isUnique: Bool)] = []
    private(set) var problems = Problems()
    /// Whether code can be written for it at all.
    private(set) var isUsable = true

    init(_ node: AttributeSyntax, _ declaration: some DeclGroupSyntax) {
        let type = declaration.as(ClassDeclSyntax.self)
        name = type?.name.trimmed.text ?? ""
        access = Self.access(declaration.modifiers)
        entityName = node.argument("entity")?.plainString ?? name.trimmingBackticks
        originalName = node.argument("originalName")?.plainString
        checkArguments(node)
        guard let type else {
            isUsable = false
            problems.add(
                "notAClass", "@Model needs a class: an object has an identity. Make this a final class.", at: declaration.introducerNode)
            return
        }
        checkClass(type)
        for member in type.memberBlock.members { read(member.decl) }
        countOrdinals()
        checkNames(type)
    }

    /// Accessible where the class is; `open` members would need an open class, which a final one is not.
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

    private mutating func checkClass(_ type: ClassDeclSyntax) {
        if !type.modifiers.contains(where: { $0.name.tokenKind == .keyword(.final) }) {
            let final = DeclModifierSyntax(name: .keyword(.final), trailingTrivia: .space)
            var fixed = type
            if type.modifiers.isEmpty {
                fixed.modifiers = [final.with(\.leadingTrivia, type.classKeyword.leadingTrivia)]
                fixed.classKeyword = type.classKeyword.with(\.leadingTrivia, [])
            } else {
                fixed.modifiers = type.modifiers + [final]
            }
            problems.add(
                "notFinal", "A model class must be final: objects are made by the framework, which cannot know a subclass.",
                at: type.classKeyword,
                fixIts: [.replace("add 'final'", type, with: fixed)])
        }
        if let parameters = type.genericParameterClause {
            problems.add("generic", "A model class cannot be generic: an entity has one set of attributes.", at: parameters)
        }
        for case .attribute(let attribute) in type.attributes where attribute.attributeName.trimmedDescription.hasSuffix("Actor") {
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
        if let macro = member.as(MacroExpansionDeclSyntax.self), ["Index", "Unique"].contains(macro.macroName.text) { readIndex(macro) }
        guard let variable = member.as(VariableDeclSyntax.self) else { return }
        guard let property = PropertyReader(variable, className: name, problems: &problems).property else { return }
        properties.append(property)
    }

    private mutating func readIndex(_ macro: MacroExpansionDeclSyntax) {
        var fields: [String] = []
        for argument in macro.arguments {
            let components = argument.expression.as(KeyPathExprSyntax.self)?.components
            guard let path = components, path.count == 1, case .property(let property)? = path.first?.component else {
                problems.add("index", "#\(macro.macroName.text) takes key paths to properties of the class, such as \\.name.", at: argument)
                return
            }
            fields.append(property.declName.baseName.text.trimmingBackticks)
        }
        if fields.isEmpty || Set(fields).count != fields.count {
            problems.add("index", "#\(macro.macroName.text) names no property, or one twice.", at: macro)
            return
        }
        indexes.append((fields, macro.macroName.text == "Unique"))
    }

    private mutating func countOrdinals() {
        var field = 0
        var relationship = 0
        for index in properties.indices {
            if properties[index].relationship?.isToMany != true {
                properties[index].field = field
                field += 1
            }
            if properties[index].relationship != nil {
                properties[index].relationship?.ordinal = relationship
                relationship += 1
            }
        }
    }

    private mutating func checkNames(_ type: ClassDeclSyntax) {
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
                let field = indexes[index].fields[position]
                guard let property = bySwiftName[field], property.field != nil else {
                    problems.add(
                        "index", "An index names \(field), which is no stored attribute or to-one relationship of \(name).", at: type.name)
                    continue
                }
                indexes[index].fields[position] = property.storedName
            }
        }
    }
}

extension String {
    /// `default` for the identifier `` `default` ``.
    var trimmingBackticks: String { hasPrefix("`") && hasSuffix("`") && count > 2 ? String(dropFirst().dropLast()) : self }
}

extension DeclGroupSyntax {
    /// `struct`, `enum`, …: where a problem with the whole declaration is shown.
    var introducerNode: Syntax { Syntax(introducer) }
}
