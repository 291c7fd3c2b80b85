import Foundation
import Testing

/// A diagnostic that a macro must report.
struct ExpectedDiagnostic: Equatable, CustomStringConvertible {
    let message: String
    let line: Int
    let column: Int
    let fixIts: [String]

    init(message: String, line: Int, column: Int, fixIts: [String]) {
        self.message = message
        self.line = line
        self.column = column
        self.fixIts = fixIts
    }

    init(_ diagnostic: CompilerDiagnostic) {
        self.init(message: diagnostic.message, line: diagnostic.line, column: diagnostic.column, fixIts: diagnostic.fixIts)
    }

    var description: String { "\(line):\(column): \(message) \(fixIts)" }
}

/// Expands the macros of a source and compares the result; a difference fails the running test.
///
/// - Parameters:
///   - other: The other declarations of the module, in a file of their own.
///   - fixIts: The messages of the fix-its that are applied.
///   - fixed: The source after the fix-its.
func expectExpansion(
    _ source: String, _ expected: String, properties: ExpandedSource.Properties = .withAttribute, beside other: String = "",
    diagnostics: [ExpectedDiagnostic] = [], applying fixIts: [String] = [], fixed: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws {
    let compilation = try await Compilation(of: ["test.swift": source, "other.swift": other], importing: ["Foundation", "PolyStore"])
    let expansions = compilation.expansions
    try #require(!expansions.isEmpty, "No macro was expanded: \(compilation.diagnostics.map(\.message))", sourceLocation: sourceLocation)
    let found = try ExpandedSource.text(of: source, expansions, properties: properties)
    #expect(found == expected, sourceLocation: sourceLocation)
    let reported = compilation.diagnostics.filter { $0.isFromMacro && $0.file == "test.swift" }
    #expect(reported.map(ExpectedDiagnostic.init) == diagnostics, sourceLocation: sourceLocation)
    guard let fixed else { return }
    #expect(CompilerDiagnostic.apply(fixIts, of: reported, to: source) == fixed, sourceLocation: sourceLocation)
}

/// Returns the expansion of a class in which `@Model` has found a mistake: its own members, and stubs that let the rest of the program compile.
func expandedWithStubs(_ head: String, _ body: String = "", name: String, access: String = "") -> String {
    func member(_ declaration: String) -> String { "\n    \(access)\(declaration) {\n        fatalError()\n    }\n" }
    let stubs = [
        member("required init(_$state state: consuming PolyStoreCore.ModelState)"),
        member("required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws"),
        "\n    \(access)var _$state: PolyStoreCore.ModelState {\n        _read {\n            fatalError()\n        }\n"
            + "        _modify {\n            fatalError()\n        }\n    }\n",
        member("func _$load(_ record: PolyStoreCore._RecordView) throws"),
        member("func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws"),
        member("func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne"),
        member("func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne)"),
        member("static var _$entityName: String"),
        member("static var _$entity: PolyStore.EntityDescription"),
        member("static var _$properties: PolyStoreCore.ModelProperties"),
    ]
    return """
        \(head) {\(body)
        \(stubs.joined())}

        extension \(name): PolyStoreCore.Model {
        }

        @available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
        extension \(name): @unchecked Sendable {
        }
        """
}
