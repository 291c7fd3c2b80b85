import Testing

/// The expansion of a small class. PolyStoreTests compiles and runs others.
@Suite struct ExpansionTests {
    @Test func scalarsHaveNoModifyAndCollectionsDo() async throws {
        try await expectExpansion(
            """
            final class Thing {
                @_PersistedAttribute(0) var a: Int = 0
                @_PersistedAttribute(1) var b: [Int]
                @_PersistedAttribute(2) var c: String?
            }
            """,
            """
            final class Thing {
                var a: Int {
                    get {
                        if _$state.isFault {
                            _$fire(0)
                        };
                        return _$stored_a
                    }
                    set {
                        _$willChange(0);
                        _$stored_a = newValue
                    }
                }
                var b: [Int] {
                    get {
                        if _$state.isFault {
                            _$fire(1)
                        };
                        return _$stored_b
                    }
                    set {
                        _$willChange(1);
                        _$stored_b = newValue
                    }
                    _modify {
                        _$willChange(1);
                        yield &_$stored_b
                    }
                }
                var c: String? {
                    get {
                        if _$state.isFault {
                            _$fire(2)
                        };
                        return _$stored_c
                    }
                    set {
                        _$willChange(2);
                        _$stored_c = newValue
                    }
                }
            }
            """)
    }

    @Test func relationshipsGoThroughTheContext() async throws {
        try await expectExpansion(
            """
            final class Thing {
                @_PersistedToOne(relationship: 0, field: 3) var owner: Owner?
                @_PersistedToMany(relationship: 1) var parts: Set<Part>
            }
            """,
            """
            final class Thing {
                var owner: Owner? {
                    get {
                        if _$state.isFault {
                            _$fire(3)
                        };
                        return _$target(of: 0, _$stored_owner)
                    }
                    set {
                        _$willChange(3);
                        _$stored_owner = _$retarget(0, from: _$stored_owner, to: newValue)
                    }
                }
                var parts: Set<Part> {
                    get {
                        _$members(of: 1)
                    }
                    set {
                        _$setMembers(of: 1, to: newValue)
                    }
                    _modify {
                        yield &self[_$members: 1]
                    }
                }
            }
            """)
    }

    /// The type of the property selects the set or the list.
    @Test func listsGoThroughTheContextAsSetsDo() async throws {
        try await expectExpansion(
            """
            final class Thing {
                @_PersistedToMany(relationship: 4) var parts: [Part]
            }
            """,
            """
            final class Thing {
                var parts: [Part] {
                    get {
                        _$members(of: 4)
                    }
                    set {
                        _$setMembers(of: 4, to: newValue)
                    }
                    _modify {
                        yield &self[_$members: 4]
                    }
                }
            }
            """)
    }

    @Test func markersWriteNothing() async throws {
        try await expectExpansion(
            """
            class Thing {
                @Attribute(.unique) var a: Int
                @Relationship(inverse: "x") var b: Other?
                @Transient var c = 1
            }
            """,
            """
            class Thing {
                var a: Int
                var b: Other?
                var c = 1
            }
            """)
    }
}
