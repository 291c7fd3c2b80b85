import Foundation
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import Testing

@testable import PolyStoreMacros

/// A folder of models with `@Model`, and the folder of their expansions, which are compiled by targets that do not depend on swift-syntax.
struct ExpandedModels: CustomStringConvertible {
    let models: URL
    let expanded: URL

    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let all = [
        ExpandedModels(
            models: root.appendingPathComponent("Tests/Support/TestModels/Models"),
            expanded: root.appendingPathComponent("Tests/Support/TestModels/Expanded")),
        ExpandedModels(
            models: root.appendingPathComponent("Benchmarks/Models"),
            expanded: root.appendingPathComponent("Benchmarks/Sources/bench/Models/Expanded")),
    ]

    var description: String { models.path }

    /// Returns the expansion of each model file by the file's name.
    func expand() throws -> [String: String] {
        let sources = try Self.files(in: models).mapValues { Parser.parse(source: $0) }
        let classes = Set(sources.values.flatMap { $0.statements.compactMap { $0.item.as(ClassDeclSyntax.self)?.name.text } })
        return try Dictionary(
            uniqueKeysWithValues: sources.map { name, source in (name, try Self.expand(source, named: name, classes: classes)) })
    }

    /// Returns the contents of each Swift file of a folder by the file's name.
    static func files(in folder: URL) throws -> [String: String] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        return try Dictionary(
            uniqueKeysWithValues: names.map { ($0, try String(contentsOf: folder.appendingPathComponent($0), encoding: .utf8)) })
    }

    /// Replaces the files of the expansions.
    func write(_ expansions: [String: String]) throws {
        for name in try Self.files(in: expanded).keys where expansions[name] == nil {
            try FileManager.default.removeItem(at: expanded.appendingPathComponent(name))
        }
        for (name, expansion) in expansions {
            try expansion.write(to: expanded.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }
    }

    private static func expand(_ source: SourceFileSyntax, named name: String, classes: Set<String>) throws -> String {
        let statements = try source.statements.map { item -> String in
            // Each class alone, because a subclass inherits the conformances that `@Model` adds to other classes.
            let inherited = item.item.as(ClassDeclSyntax.self)?.inheritanceClause?.inheritedTypes.first?.type.trimmedDescription
            let specifications = inherited.map(classes.contains) ?? false ? macros([]) : macros()
            let members = try expand(SourceFileSyntax(statements: [item]), specifications)
            // `@Model` has added the macros of the accessors.
            let complete = try expand(members, specifications)
            return complete.description.trimmingCharacters(in: .whitespacesAndNewlines)
        }
        let imports = statements.prefix { $0.hasPrefix("import ") }
        let code = statements.dropFirst(imports.count)
        return """
            // swift-format-ignore-file
            // The expansion of \(name). Do not edit it: change the model, and run the tests with POLYSTORE_WRITE_EXPANDED_MODELS=1.

            \(imports.joined(separator: "\n"))

            \(code.joined(separator: "\n\n"))

            """
    }

    private static func expand(_ file: SourceFileSyntax, _ specifications: [String: MacroSpec]) throws -> SourceFileSyntax {
        // Without source files, so that the expansion does not contain paths and lines of this machine.
        let context = BasicMacroExpansionContext()
        let expanded = file.expand(macroSpecs: specifications, contextGenerator: { _ in context }, indentationWidth: .spaces(4))
        try #require(context.diagnostics.isEmpty, "\(context.diagnostics.map(\.message))")
        return MacroFreeCode().rewrite(expanded).cast(SourceFileSyntax.self)
    }
}

/// Replaces names of the module PolyStore, which declares the macros, by names of the modules that it exports.
private final class MacroFreeCode: SyntaxRewriter {
    override func visit(_ node: ImportDeclSyntax) -> DeclSyntax {
        guard node.path.trimmedDescription == "PolyStore" else { return DeclSyntax(node) }
        return "import PolyStoreBackend\nimport PolyStoreCore"
    }

    override func visit(_ node: MemberTypeSyntax) -> TypeSyntax {
        guard node.baseType.trimmedDescription == "PolyStore", node.name.text.hasPrefix("_Persisted") else { return super.visit(node) }
        return TypeSyntax(IdentifierTypeSyntax(name: node.name))
    }

    // All other names of PolyStore in generated code are types of the storage contract.
    override func visit(_ token: TokenSyntax) -> TokenSyntax {
        token.tokenKind == .identifier("PolyStore") ? token.with(\.tokenKind, .identifier("PolyStoreBackend")) : token
    }

    // The locations of errors in the model's file, which are absent here, end with an empty `#sourceLocation`.
    override func visit(_ node: CodeBlockItemListSyntax) -> CodeBlockItemListSyntax {
        super.visit(node.filter { !$0.item.is(PoundSourceLocationSyntax.self) })
    }

    override func visit(_ node: CodeBlockItemSyntax) -> CodeBlockItemSyntax { super.visit(node).with(\.semicolon, nil) }
}
