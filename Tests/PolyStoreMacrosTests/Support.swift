import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import SwiftSyntaxMacrosGenericTestSupport
import Testing

import struct SwiftSyntax.TypeSyntax

@testable import PolyStoreMacros

/// - Parameter conformances: those that a class under `@Model` does not have yet; a subclass of a model has them.
func macros(_ conformances: [TypeSyntax] = ["Model", "Sendable"]) -> [String: MacroSpec] {
    [
        "Model": MacroSpec(type: ModelMacro.self, conformances: conformances), "Attribute": MacroSpec(type: MarkerMacro.self),
        "Relationship": MacroSpec(type: MarkerMacro.self), "Transient": MacroSpec(type: MarkerMacro.self),
        "Index": MacroSpec(type: IndexMacro.self),
        "Unique": MacroSpec(type: IndexMacro.self), "_PersistedAttribute": MacroSpec(type: PersistedAttributeMacro.self),
        "_PersistedToOne": MacroSpec(type: PersistedToOneMacro.self), "_PersistedToMany": MacroSpec(type: PersistedToManyMacro.self),
    ]
}

/// Expands and compares; a difference is an issue of the running test.
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
