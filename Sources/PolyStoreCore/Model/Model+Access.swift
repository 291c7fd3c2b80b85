import PolyStoreBackend

/// What the accessors of a model call. `self` decides which context answers.
extension Model {
    /// Reads the values of a fault.
    /// - Parameter field: the one that is asked for; −1: not told.
    public func _$fire(_ field: Int = -1) { _$state.context.fire(self, field) }

    /// To be called before a field changes.
    @inlinable
    public func _$willChange(_ field: Int) {
        if _$state.isFault { _$fire() }
        // The object holds its changes; retaining them here would take longer than all the rest.
        let isNoted = _$state.unretainedEdit?._withUnsafeGuaranteedRef { edit in
            if edit.isRecorded { return false }
            edit.mask.insert(field)
            return true
        }
        if isNoted != true { _$beginEditing().mask.insert(field) }
    }

    @usableFromInline
    func _$beginEditing() -> EditState { _$state.context.beginEditing(self) }

    /// The object that a to-one relationship leads to.
    @inlinable
    public func _$target<T: Model>(of relationship: Int, _ target: ToOne) -> T? {
        target.id == 0 ? nil : _$state.context.target(of: self, relationship, target.id)
    }

    /// Makes a to-one relationship lead to another object, and keeps the other end right.
    public func _$retarget<T: Model>(_ relationship: Int, from old: ToOne, to new: T?) -> ToOne {
        _$state.context.retarget(self, relationship, from: old, to: new)
    }

    /// The objects that a to-many relationship leads to.
    @inlinable
    public func _$members<T: Model>(of relationship: Int) -> Set<T> {
        _$state.context.collected(self, relationship) ?? Set(_$state.context.members(of: self, relationship) as [T])
    }

    /// The objects that an ordered to-many relationship leads to.
    @inlinable
    public func _$members<T: Model>(of relationship: Int) -> [T] {
        _$state.context.collected(self, relationship) ?? _$state.context.members(of: self, relationship)
    }

    /// The objects that a to-many relationship leads to, to be changed in place.
    public subscript<T: Model>(_$members relationship: Int) -> Set<T> {
        get { _$members(of: relationship) }
        _modify {
            let context = _$state.context
            var loan: MemberLoan<Set<T>> = context.lend(self, relationship)
            // Also where the program throws in the middle of it.
            defer { context.takeBack(&loan, self, relationship) }
            yield &loan.members
        }
    }

    /// The objects that an ordered to-many relationship leads to, to be changed in place.
    public subscript<T: Model>(_$members relationship: Int) -> [T] {
        get { _$members(of: relationship) }
        _modify {
            let context = _$state.context
            var loan: MemberLoan<[T]> = context.lend(self, relationship)
            defer { context.takeBack(&loan, self, relationship) }
            yield &loan.members
        }
    }

    /// Replaces the objects of a to-many relationship, and keeps the other ends right.
    public func _$setMembers<T: Model>(of relationship: Int, to members: Set<T>) {
        _$state.context.setMembers(of: self, relationship, to: members)
    }

    /// Replaces the objects of an ordered to-many relationship, and keeps the other ends right. Of an object that is there twice the first place
    /// counts.
    public func _$setMembers<T: Model>(of relationship: Int, to members: [T]) {
        _$state.context.setMembers(of: self, relationship, to: members)
    }
}

extension Model {
    /// The object's permanent identity: Sendable, the way to take an object from one context to another.
    public var objectID: ObjectID<Self> { ObjectID(entry: _$state.context.entry(_$state.slot), key: _$state.key) }

    /// Whether the values are still to be read from the store.
    public var isFault: Bool { _$state.isFault }

    /// Whether the object was deleted: in this transaction, or, for an object of the view, by a commit that the view has seen.
    @inlinable public var isDeleted: Bool { _$state.flags.contains(.deleted) }

    /// Whether the object was created in this transaction.
    @inlinable public var isInserted: Bool { _$state.edit?.isInsert ?? false }

    /// Whether this transaction changed it, or the list of one of its to-many relationships. What was changed back counts too; see
    /// ``hasPersistentChangedValues()``.
    public var hasChanges: Bool { isEdited || !changedRelationships.isEmpty }

    /// Whether its record is out of date.
    var isEdited: Bool { _$state.edit != nil || isDeleted }

    /// The stored names of what was changed in this transaction. What was changed back counts too; see ``changedValues()``.
    public var changedKeys: Set<String> {
        var keys = Set(changedRelationships.map(\.name))
        guard let edit = _$state.edit else { return keys }
        let fields = _$state.context.entry(_$state.slot).entity.fields
        for ordinal in edit.mask.ordinals where fields.indices.contains(ordinal) { keys.insert(fields[ordinal].name) }
        return keys
    }
}
