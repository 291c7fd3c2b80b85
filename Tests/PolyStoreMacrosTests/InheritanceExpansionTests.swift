import Testing

/// The expansion of a small hierarchy: the fields of the root start at 0, those of a subclass at an offset that the hierarchy computes, after those of its
/// superclass.
@Suite struct InheritanceExpansionTests {
    @Test func aRootCanBeOverridden() async throws {
        try await expectExpansion(
            """
            @Model(isAbstract: true, subentities: "B", "C")
            class A {
                var a: Int = 0
            }
            """,
            """
            class A {
                @PolyStore._PersistedAttribute(0)
                var a: Int = 0

                @exclusivity(unchecked) final var _$state: PolyStoreCore.ModelState

                private var _$stored_a: Int

                required init(_$state state: consuming PolyStoreCore.ModelState) {
                    self._$stored_a = 0
                    self._$state = state
                }

                required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
                    self._$stored_a = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
                    self._$state = state
                }

                func _$load(_ record: PolyStoreCore._RecordView) throws {
                    self._$stored_a = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, 0)
                }

                func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
                    try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_a, into: &builder, 0)
                }

                func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
                    switch relationship {
                    default:
                        .none
                    }
                }

                func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
                    switch relationship {
                    default:
                        break
                    }
                }

                class var _$entityName: String {
                    "A"
                }

                private static let _$ownEntity = PolyStore.EntityDescription(
                    name: "A", originalName: nil,
                    properties: [
                        .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("a", options: [], originalName: nil, default: 0)),
                    ],
                    indexes: [
                    ])

                class var _$entity: PolyStore.EntityDescription {
                    _$ownEntity
                }

                private static let _$ownProperties = PolyStoreCore.ModelProperties(A.self, _$paths_A(A.self))

                class var _$properties: PolyStoreCore.ModelProperties {
                    _$ownProperties
                }

                static func _$paths_A<Root: A>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] {
                    [
                        (\\Root.a, "a"),
                    ]
                }

                class func _$storedName(_ property: String) -> String {
                    switch property {
                    default:
                        property
                    }
                }

                static let _$hierarchy: PolyStoreCore.ModelHierarchy? = PolyStoreCore.ModelHierarchy(A.self)

                class var _$inheritance: PolyStoreCore.ModelInheritance {
                    var subentities: [any PolyStoreCore.Model.Type] = []
                    #sourceLocation(file: "test.swift", line: 1)
                    subentities.append(PolyStoreCore.ModelCheck.Superclass<A>.lists(B.self))
                    #sourceLocation(file: "test.swift", line: 1)
                    subentities.append(PolyStoreCore.ModelCheck.Superclass<A>.lists(C.self))
                    #sourceLocation()
                    return PolyStoreCore.ModelInheritance(isAbstract: true, superentity: nil, subentities: subentities)
                }

                func validate() throws {
                }

                func validateForDelete() throws {
                }

                private static func _$checkProperties() {
                    #sourceLocation(file: "test.swift", line: 3)
                        PolyStoreCore.ModelCheck.attribute((Int).self)
                    #sourceLocation()
                }
            }

            extension A: PolyStoreCore.Model {
            }

            @available(*, unavailable, message: "objects belong to one context; pass their objectID instead")
            extension A: @unchecked Sendable {
            }
            """, beside: "@Model final class B: A {}\n@Model final class C: A {}")
    }

    @Test func indexesOfASubclassFollowThoseOfItsSuperclass() async throws {
        try await expectExpansion(
            """
            @Model
            final class B: A {
                var b: Int = 0
                @Relationship var c: A?
                @Relationship var d: Set<A>
            }
            """,
            """
            final class B: A {
                @PolyStore._PersistedAttribute(0, in: "B")
                var b: Int = 0
                @PolyStore._PersistedToOne(relationship: 0, field: 1, in: "B") var c: A?
                @PolyStore._PersistedToMany(relationship: 1, in: "B") var d: Set<A>

                private var _$stored_b: Int

                private var _$stored_c: PolyStoreCore.ToOne

                required init(_$state state: consuming PolyStoreCore.ModelState) {
                    self._$stored_b = 0
                    self._$stored_c = .none
                    super.init(_$state: state)
                }

                required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
                    let base = B._$firstIndexes.field
                    self._$stored_b = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, base + 0)
                    self._$stored_c = PolyStoreCore.ToOne(record, base + 1)
                    try super.init(_$state: state, decoding: record)
                }

                override func _$load(_ record: PolyStoreCore._RecordView) throws {
                    try super._$load(record)
                    let base = B._$firstIndexes.field
                    self._$stored_b = try PolyStoreCore.ModelCoding.of((Int).self).decode(record, base + 0)
                    self._$stored_c = PolyStoreCore.ToOne(record, base + 1)
                }

                override func _$encode(into builder: inout PolyStoreCore._RecordBuilder) throws {
                    try super._$encode(into: &builder)
                    let base = B._$firstIndexes.field
                    try PolyStoreCore.ModelCoding.of((Int).self).encode(self._$stored_b, into: &builder, base + 0)
                    self._$stored_c.encode(into: &builder, base + 1)
                }

                override func _$toOne(_ relationship: Int) -> PolyStoreCore.ToOne {
                    switch relationship - B._$firstIndexes.relationship {
                    case 0:
                        self._$stored_c
                    default:
                        super._$toOne(relationship)
                    }
                }

                override func _$setToOne(_ relationship: Int, _ target: PolyStoreCore.ToOne) {
                    switch relationship - B._$firstIndexes.relationship {
                    case 0:
                        self._$stored_c = target
                    default:
                        super._$setToOne(relationship, target)
                    }
                }

                override static var _$entityName: String {
                    "B"
                }

                private static let _$ownEntity = PolyStore.EntityDescription(
                    name: "B", originalName: nil,
                    properties: [
                        .attribute(PolyStoreCore.ModelCoding.of((Int).self).describe("b", options: [], originalName: nil, default: 0)),
                        .relationship(PolyStore.RelationshipDescription(name: "c", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\\B.c), isToMany: false, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
                        .relationship(PolyStore.RelationshipDescription(name: "d", originalName: nil, destination: PolyStoreCore.ModelCoding.destination(\\B.d), isToMany: true, isOrdered: false, inverse: nil, deleteRule: .nullify, isRequired: false, minCount: 0, maxCount: nil)),
                    ],
                    indexes: [
                    ])

                override static var _$entity: PolyStore.EntityDescription {
                    _$ownEntity
                }

                private static let _$ownProperties = PolyStoreCore.ModelProperties(B.self, _$paths_B(B.self))

                override static var _$properties: PolyStoreCore.ModelProperties {
                    _$ownProperties
                }

                static func _$paths_B<Root: B>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] {
                    #sourceLocation(file: "test.swift", line: 2)
                        let inherited: [(PartialKeyPath<Root>, String)] = A._$paths_A(root)
                    #sourceLocation()
                        return inherited + [
                            (\\Root.b, "b"),
                            (\\Root.c, "c"),
                            (\\Root.d, "d"),
                        ]
                }

                private static let _$firstIndexes = B._$hierarchy?.firstIndexes(of: B.self) ?? PolyStoreCore.ModelFirstIndexes()

                override static var _$inheritance: PolyStoreCore.ModelInheritance {
                    PolyStoreCore.ModelInheritance(isAbstract: false, superentity: A.self, subentities: [])
                }

                private static func _$checkProperties() {
                    #sourceLocation(file: "test.swift", line: 3)
                        PolyStoreCore.ModelCheck.attribute((Int).self)
                    #sourceLocation(file: "test.swift", line: 4)
                        PolyStoreCore.ModelCheck.relationship(\\B.c)
                    #sourceLocation(file: "test.swift", line: 5)
                        PolyStoreCore.ModelCheck.relationship(\\B.d)
                    #sourceLocation()
                }
            }
            """, beside: "@Model(subentities: \"B\") class A {}")
    }

    @Test func accessorsCountFromWhereTheClassBegins() async throws {
        try await expectExpansion(
            """
            class B: A {
                @_PersistedAttribute(1, in: "B") var b: Int = 0
                @_PersistedToOne(relationship: 0, field: 2, in: "B") var c: A?
                @_PersistedToMany(relationship: 1, in: "B") var d: Set<A>
            }
            """,
            """
            class B: A {
                var b: Int {
                    get {
                        if _$state.isFault {
                            _$fire(B._$firstIndexes.field + 1)
                        };
                        return _$stored_b
                    }
                    set {
                        _$willChange(B._$firstIndexes.field + 1);
                        _$stored_b = newValue
                    }
                }
                var c: A? {
                    get {
                        if _$state.isFault {
                            _$fire(B._$firstIndexes.field + 2)
                        };
                        return _$target(of: B._$firstIndexes.relationship + 0, _$stored_c)
                    }
                    set {
                        _$willChange(B._$firstIndexes.field + 2);
                        _$stored_c = _$retarget(B._$firstIndexes.relationship + 0, from: _$stored_c, to: newValue)
                    }
                }
                var d: Set<A> {
                    get {
                        _$members(of: B._$firstIndexes.relationship + 1)
                    }
                    set {
                        _$setMembers(of: B._$firstIndexes.relationship + 1, to: newValue)
                    }
                    _modify {
                        yield &self[_$members: B._$firstIndexes.relationship + 1]
                    }
                }
            }
            """)
    }

    @Test func aSubclassThatAddsNothingOverridesNoCoding() async throws {
        try await expectExpansion(
            """
            @Model
            final class C: A {
            }
            """,
            """
            final class C: A {

                required init(_$state state: consuming PolyStoreCore.ModelState) {
                    super.init(_$state: state)
                }

                required init(_$state state: consuming PolyStoreCore.ModelState, decoding record: PolyStoreCore._RecordView) throws {
                    try super.init(_$state: state, decoding: record)
                }

                override static var _$entityName: String {
                    "C"
                }

                private static let _$ownEntity = PolyStore.EntityDescription(
                    name: "C", originalName: nil,
                    properties: [
                    ],
                    indexes: [
                    ])

                override static var _$entity: PolyStore.EntityDescription {
                    _$ownEntity
                }

                private static let _$ownProperties = PolyStoreCore.ModelProperties(C.self, _$paths_C(C.self))

                override static var _$properties: PolyStoreCore.ModelProperties {
                    _$ownProperties
                }

                static func _$paths_C<Root: C>(_ root: Root.Type) -> [(PartialKeyPath<Root>, String)] {
                    #sourceLocation(file: "test.swift", line: 2)
                        let inherited: [(PartialKeyPath<Root>, String)] = A._$paths_A(root)
                    #sourceLocation()
                        return inherited + [
                        ]
                }

                private static let _$firstIndexes = C._$hierarchy?.firstIndexes(of: C.self) ?? PolyStoreCore.ModelFirstIndexes()

                override static var _$inheritance: PolyStoreCore.ModelInheritance {
                    PolyStoreCore.ModelInheritance(isAbstract: false, superentity: A.self, subentities: [])
                }
            }
            """, beside: "@Model(subentities: \"C\") class A {}")
    }
}
