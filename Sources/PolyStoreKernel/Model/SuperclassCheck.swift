import PolyStoreBackend

extension StackCore {
    /// Checks that no model inherits stored properties from a class that is not a model. `@Model` does not see that class, so a store would not contain their
    /// values, and they would be lost with the object.
    /// - Throws: `invalidSchema`.
    func checkSuperclasses() throws {
        var checked: [any Model.Type] = []
        for type in schema.roots(of: schema.models + schema.configurations.values.joined()) where !checked.contains(where: { $0 == type }) {
            checked.append(type)
            // Only an object can list its stored properties, so one is created, without a store.
            guard _getSuperclass(type) != nil else { continue }
            let context = Context(core: self, table: table.withLock { $0 }, CallSite("schema check", file: #fileID, line: #line))
            // The object does not retain its map, and uses it when it is deinitialized.
            let map = IdentityMap(context, entityIndex: 0, isPolymorphic: false, keepsContext: true)
            try withExtendedLifetime(map) { try checkSuperclass(of: object(type, map)) }
        }
    }

    private func object<T: Model>(_ type: T.Type, _ map: IdentityMap) -> any Model { T(_$state: ModelState(map, rowID: 1)) }

    private func checkSuperclass(of object: any Model) throws {
        let type = Swift.type(of: object)
        // The mirror of the model itself may be one that the model declares.
        var mirror = Mirror(object, children: [(label: String?, value: Any)](), ancestorRepresentation: .generated).superclassMirror
        while let superclass = mirror {
            let names = superclass.children.map { $0.label ?? "_" }
            guard names.isEmpty else {
                throw StoreError(
                    .invalidSchema,
                    "\(type) inherits from \(superclass.subjectType), which is not a model and stores \(names.joined(separator: ", ")): no store would contain "
                        + "these values. Mark \(superclass.subjectType) with @Model(subentities: \"\(type)\"), or declare the properties in \(type).",
                    entity: type._$entityName, attribute: names.first)
            }
            mirror = superclass.superclassMirror
        }
    }
}
