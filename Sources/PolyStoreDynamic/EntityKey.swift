import PolyStoreBackend
import PolyStoreKernel
import PolyStoreTransfer

/// The unique id of an object without a class: the values of the attributes of its entity's first unique index.
struct EntityKey: Hashable {
    let values: [Value]
}

/// The attributes of an entity that hold the unique id.
struct EntityKeyPath: UniqueIDKeyPath {
    let entity: Entity

    func _$access() throws -> UniqueIDAccess<EntityKey> {
        guard let fields = entity.uniqueAttributes else {
            throw StoreError(
                .misuse, "\(entity.name) has no unique attribute, so its objects cannot be found by a unique id.", entity: entity.name)
        }
        return UniqueIDAccess(
            fields: fields.map { FieldReference(entity.fields[$0]) }, key: { ImportKey($0.values) },
            read: { object in
                guard let object = object as? any DynamicModel else { return nil }
                if object._$state.isFault { object._$fire(fields[0]) }
                return ImportKey(fields.map { object.values[$0] })
            },
            assign: { key, object in
                guard let object = object as? any DynamicModel else { return }
                for (field, value) in zip(fields, key.values) {
                    object.changeField(field)
                    object.values[field] = value
                }
            })
    }
}
