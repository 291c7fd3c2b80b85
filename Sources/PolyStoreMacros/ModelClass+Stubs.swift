import SwiftSyntax

/// The members of a class with an error. They satisfy the protocol, so that the compiler reports only the error and not every
/// use of the class; a subclass of a class without them crashes the compiler of Swift 6.3. They are never executed because the error prevents compilation.
extension ModelClass {
    var stubMembers: [DeclSyntax] {
        let trap = "{ fatalError() }"
        // Actor-isolated members do not satisfy the protocol.
        let access = isIsolated ? "nonisolated \(access)" : access
        var members: [DeclSyntax] = [
            "\(raw: access)required init(_$state state: consuming PolyStoreCore.ModelState) \(raw: trap)",
            """
            \(raw: access)required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws \(raw: trap)
            """,
        ]
        if isInHierarchy {
            members.append(
                """
                \(raw: access)static func \(raw: pathsName)<Root: \(raw: name)>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] \(raw: trap)
                """)
        }
        if isSubclass { return members }
        members += [
            """
            \(raw: access)\(raw: subentities.isEmpty ? "" : "final ")var _$state: PolyStoreCore.ModelState {
                _read \(raw: trap)
                _modify \(raw: trap)
            }
            """,
            "\(raw: access)func _$load(_ record: PolyStoreCore._RecordView) throws \(raw: trap)",
            "\(raw: access)func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws \(raw: trap)",
            "\(raw: access)func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne \(raw: trap)",
            "\(raw: access)func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) \(raw: trap)",
            "\(raw: access)\(raw: overridable) var _$entityName: String \(raw: trap)",
            "\(raw: access)\(raw: overridable) var _$entity: PolyStore.EntityDescription \(raw: trap)",
            "\(raw: access)\(raw: overridable) var _$properties: PolyStoreCore.ModelProperties \(raw: trap)",
        ]
        guard isInHierarchy else { return members }
        members += [
            "\(raw: access)\(raw: overridable) func _$storedName(_ property: String) -> String \(raw: trap)",
            "\(raw: access)static var _$hierarchy: PolyStoreCore.ModelHierarchy? \(raw: trap)",
            "\(raw: access)\(raw: overridable) var _$inheritance: PolyStoreCore.ModelInheritance \(raw: trap)",
        ]
        for function in validationFunctions { members.append("\(raw: access)func \(raw: function)() throws {}") }
        return members
    }
}
