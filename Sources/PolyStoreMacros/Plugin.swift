import SwiftCompilerPlugin
import SwiftSyntaxMacros

@main
struct PolyStorePlugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        ModelMacro.self, MarkerMacro.self, IndexMacro.self, PersistedAttributeMacro.self, PersistedToOneMacro.self,
        PersistedToManyMacro.self,
    ]
}
