// What the accessors of relationships call if the type of the property is not a model. `ModelCheck.relationship` refuses such a class, at the property; these
// overloads let the rest of its expansion compile, so that the compiler reports only that error. They are never called.

extension Model {
    @_disfavoredOverload public func _$target<T>(of relationship: Int, _ target: ToOne) -> T? { nil }
    @_disfavoredOverload public func _$retarget<T>(_ relationship: Int, from old: ToOne, to new: T?) -> ToOne { old }
    @_disfavoredOverload public func _$members<T>(of relationship: Int) -> Set<T> { [] }
    @_disfavoredOverload public func _$members<T>(of relationship: Int) -> [T] { [] }
    @_disfavoredOverload public func _$setMembers<T>(of relationship: Int, to members: Set<T>) {}
    @_disfavoredOverload public func _$setMembers<T>(of relationship: Int, to members: [T]) {}

    @_disfavoredOverload
    public subscript<T>(_$members relationship: Int) -> Set<T> {
        get { [] }
        set {}
    }

    @_disfavoredOverload
    public subscript<T>(_$members relationship: Int) -> [T] {
        get { [] }
        set {}
    }
}
