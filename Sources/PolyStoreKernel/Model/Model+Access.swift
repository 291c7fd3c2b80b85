import PolyStoreBackend

/// The functions that the accessors of a model call. They forward to the object's context.
extension Model {
    /// Reads the values of a fault.
    /// - Parameter field: The index of the requested field; −1 if it is unknown.
    public func _$fire(_ field: Int = -1) { _$state.context.fire(self, field) }

    /// Prepares the object for a change of a field. Call it before the change.
    // Inlined into the setters: a specialization in another module is merged with those of other classes and then accesses the state by witnesses.
    @inlinable @inline(__always)
    public func _$willChange(_ field: Int) {
        // The object owns the edit state; retaining it here would dominate the cost of the call.
        if let edit = _$state.unretainedEdit, !_$state.isFault, edit._withUnsafeGuaranteedRef({ $0.insert(field) }) { return }
        _$beginEditing(field)
    }

    @usableFromInline @inline(never)
    func _$beginEditing(_ field: Int) {
        if _$state.isFault { _$fire() }
        _$state.context.beginEditing(self).mask.insert(field)
    }

    /// Returns the target of a to-one relationship.
    @inlinable
    public func _$target<T: Model>(of relationship: Int, _ target: ToOne) -> T? {
        if _$state.isUnsettled { return _$settledTarget(of: relationship) }
        return target.rowID == 0 ? nil : _$state.context.target(of: self, relationship, target.rowID)
    }

    /// Returns the target of a to-one relationship after the last in-place change of a list was completed, which can change the target.
    @usableFromInline @inline(never)
    func _$settledTarget<T: Model>(of relationship: Int) -> T? {
        let context = _$state.context
        context.settleMembers(before: _$state.entityIndex, relationship)
        let target = _$toOne(relationship)
        return target.rowID == 0 ? nil : context.target(of: self, relationship, target.rowID)
    }

    /// Sets a to-one relationship and updates the inverse.
    public func _$retarget<T: Model>(_ relationship: Int, from old: ToOne, to new: T?) -> ToOne {
        _$state.context.retarget(self, relationship, from: old, to: new)
    }

    /// Returns the targets of a to-many relationship.
    @inlinable
    public func _$members<T: Model>(of relationship: Int) -> Set<T> {
        _$state.context.collected(self, relationship) ?? Set(_$state.context.members(of: self, relationship) as [T])
    }

    /// Returns the targets of an ordered to-many relationship.
    @inlinable
    public func _$members<T: Model>(of relationship: Int) -> [T] {
        _$state.context.collected(self, relationship) ?? _$state.context.members(of: self, relationship)
    }

    /// The targets of a to-many relationship, for mutation in place.
    public subscript<T: Model>(_$members relationship: Int) -> Set<T> {
        get { _$members(of: relationship) }
        _modify {
            let context = _$state.context
            var mutation: MemberMutation<Set<T>> = context.beginMutation(self, relationship)
            // Also runs if the mutation throws.
            defer { context.endMutation(&mutation, self, relationship) }
            yield &mutation.members
        }
    }

    /// The targets of an ordered to-many relationship, for mutation in place.
    public subscript<T: Model>(_$members relationship: Int) -> [T] {
        get { _$members(of: relationship) }
        _modify {
            let context = _$state.context
            var mutation: MemberMutation<[T]> = context.beginMutation(self, relationship)
            defer { context.endMutation(&mutation, self, relationship) }
            yield &mutation.members
        }
    }

    /// Replaces the targets of a to-many relationship and updates the inverses.
    public func _$setMembers<T: Model>(of relationship: Int, to members: Set<T>) {
        _$state.context.setMembers(of: self, relationship, to: members)
    }

    /// Replaces the targets of an ordered to-many relationship and updates the inverses. If the list contains an object twice, the first occurrence
    /// is kept.
    public func _$setMembers<T: Model>(of relationship: Int, to members: [T]) {
        _$state.context.setMembers(of: self, relationship, to: members)
    }
}

extension Model {
    /// The permanent identity of the object. Sendable; use it to pass the object from one context to another.
    public var objectID: ObjectID<Self> { ObjectID(entry: _$state.context.entry(_$state.entityIndex), rowID: _$state.rowID) }

    /// A Boolean value that indicates whether the values have not been read from the store yet.
    public var isFault: Bool { _$state.isFault }

    /// A Boolean value that indicates whether the object was deleted in this transaction or, for an object of the view, by a commit that the view shows.
    @inlinable public var isDeleted: Bool { _$state.flags.contains(.deleted) }

    /// A Boolean value that indicates whether the object was created in this transaction.
    @inlinable public var isInserted: Bool { _$state.edit?.isInsert ?? false }

    /// A Boolean value that indicates whether this transaction changed the object or one of its to-many relationships. Changes that were reverted
    /// count too; see ``hasPersistentChangedValues()``.
    public var hasChanges: Bool {
        _$state.context.settleMembers()
        return isEdited || !changedRelationships.isEmpty
    }

    /// A Boolean value that indicates whether the record differs from the stored one.
    package var isEdited: Bool { _$state.edit != nil || isDeleted }

    /// The stored names of the properties that this transaction changed. Changes that were reverted count too; see ``changedValues()``.
    public var changedKeys: Set<String> {
        _$state.context.settleMembers()
        var keys = Set(changedRelationships.map(\.name))
        guard let edit = _$state.edit else { return keys }
        let fields = _$state.context.entry(_$state.entityIndex).entity.fields
        for fieldIndex in edit.mask.indexes where fields.indices.contains(fieldIndex) { keys.insert(fields[fieldIndex].name) }
        return keys
    }
}
