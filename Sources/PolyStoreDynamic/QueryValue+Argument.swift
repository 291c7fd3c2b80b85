import PolyStoreKernel

/// A value of an object as an argument of a condition: `EntityQuery("Person").where("email == %@", value)`.
extension QueryValue: QueryArgument {
    public var queryOperand: QueryOperand {
        switch self {
        case .bool(let value): value.queryOperand
        case .integer(let value): value.queryOperand
        case .unsigned(let value): value.queryOperand
        case .real(let value): value.queryOperand
        case .text(let value): value.queryOperand
        case .date(let value): value.queryOperand
        case .data(let value): value.queryOperand
        case .uuid(let value): value.queryOperand
        case .url(let value): value.queryOperand
        case .decimal(let value): value.queryOperand
        case .objectID(let value): value.queryOperand
        }
    }
}
