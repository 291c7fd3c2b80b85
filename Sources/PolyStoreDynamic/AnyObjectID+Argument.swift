import PolyStoreKernel

/// The id of an object as an argument of a condition: `EntityQuery("Person").where("department == %@", research.id)`.
extension AnyObjectID: QueryArgument {
    public var queryOperand: QueryOperand {
        func operand<T: Model>(_ type: T.Type) -> QueryOperand { ObjectID<T>(entry: entry, rowID: rowID).queryOperand }
        return operand(entry.type)
    }
}
