import PolyStoreBackend

extension CodingUserInfoKey {
    /// The ``DataStack`` that contains the objects of decoded ids.
    ///
    ///     let decoder = JSONDecoder()
    ///     decoder.userInfo[.dataStack] = stack
    public static let dataStack = CodingUserInfoKey(rawValue: "PolyStore.dataStack").unsafelyUnwrapped  // any text makes a key
}

extension Decoder {
    /// Returns the stack for decoding ids: that of ``CodingUserInfoKey/dataStack``, otherwise ``DataStack/default``.
    package func dataStack() throws -> DataStack {
        if let stack = userInfo[.dataStack] as? DataStack ?? DataStack.defaultIfSet { return stack }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath,
                debugDescription: "An object's id belongs to a stack. Set `decoder.userInfo[.dataStack]`, or `DataStack.default`."))
    }

    package func objectID<T: Model>(_ uri: String, of type: T.Type) throws -> ObjectID<T> {
        if let id = try dataStack().objectID(uri, for: type) { return id }
        throw DecodingError.dataCorrupted(
            DecodingError.Context(
                codingPath: codingPath, debugDescription: "\(uri) names no object of \(T._$entityName) in a store of the stack."))
    }
}

/// Encodes the id as its ``ObjectID/uri``. Decoding finds the store in the stack of ``CodingUserInfoKey/dataStack``, or in ``DataStack/default``.
extension ObjectID: Codable {
    public init(from decoder: any Decoder) throws {
        self = try decoder.objectID(try decoder.singleValueContainer().decode(String.self), of: T.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(uri)
    }
}
