import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

import struct SwiftSyntax.TypeSyntax

@testable import PolyStoreMacros

/// - Parameter conformances: The conformances that `@Model` adds to the class. A subclass of a model inherits them.
func macros(_ conformances: [TypeSyntax] = ["Model", "Sendable"]) -> [String: MacroSpec] {
    [
        "Model": MacroSpec(type: ModelMacro.self, conformances: conformances), "Attribute": MacroSpec(type: MarkerMacro.self),
        "Relationship": MacroSpec(type: MarkerMacro.self), "Transient": MacroSpec(type: MarkerMacro.self),
        "Index": MacroSpec(type: IndexMacro.self),
        "Unique": MacroSpec(type: IndexMacro.self), "_PersistedAttribute": MacroSpec(type: PersistedAttributeMacro.self),
        "_PersistedToOne": MacroSpec(type: PersistedToOneMacro.self), "_PersistedToMany": MacroSpec(type: PersistedToManyMacro.self),
    ]
}

/// Expands a macro and compares the result; a difference fails the running test.
func expectExpansion(
    _ source: String, _ expected: String, isSubclass: Bool = false, diagnostics: [DiagnosticSpec] = [], applying fixIts: [String]? = nil,
    fixed: String? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
) {
    assertMacroExpansion(
        source, expandedSource: expected, diagnostics: diagnostics, macroSpecs: isSubclass ? macros([]) : macros(), applyFixIts: fixIts,
        fixedSource: fixed,
        indentationWidth: .spaces(4),
        failureHandler: { failure in Issue.record(Comment(rawValue: failure.message), sourceLocation: sourceLocation) })
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
