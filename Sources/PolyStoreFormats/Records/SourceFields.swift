/// Named values with typed access: ``SourceRecord``, ``JSONObject`` and `[String: JSONValue]`.
///
///     let name: String = try source.require("name")
///     let born = try source.optional("born", as: Date.self)
///     let city = try source.require("address.city", as: String.self)
public protocol SourceFields {
    /// Returns the value of a field or a nested field, or nil if it is missing.
    func value(at path: String) -> JSONValue?
    /// The position of the record, for errors.
    var sourcePosition: RecordPosition? { get }
}

extension SourceFields {
    /// Returns the value of a field as `T`.
    ///
    /// - Parameters:
    ///   - path: The name of a field, or a path such as `address.city`.
    ///   - type: The type of the value; usually inferred.
    ///   - options: The options of the conversion, such as date formats.
    /// - Throws: ``RecordError`` if the field is missing or null, or if the value is not a `T`. For an optional `T`, null is nil.
    public func require<T: ConvertibleFromSource>(_ path: String, as type: T.Type = T.self, options: ConversionOptions = .default) throws
        -> T
    {
        guard let value = value(at: path) else {
            throw RecordError(.missingField, "the field is missing", position: sourcePosition, field: path)
        }
        return try convert(value, path, options)
    }

    /// Returns the value of a field as `T`, or nil if the field is missing or null.
    ///
    /// - Throws: ``RecordError`` if the value is not a `T`.
    public func optional<T: ConvertibleFromSource>(_ path: String, as type: T.Type = T.self, options: ConversionOptions = .default) throws
        -> T?
    {
        guard let value = value(at: path), !value.isNull else { return nil }
        return try convert(value, path, options) as T
    }

    private func convert<T: ConvertibleFromSource>(_ value: JSONValue, _ path: String, _ options: ConversionOptions) throws -> T {
        do {
            return try T(source: value, options: options)
        } catch let error as RecordError {
            throw error.inField(path).at(sourcePosition)
        }
    }
}

extension SourceRecord: SourceFields {
    public var sourcePosition: RecordPosition? { position }
}

extension JSONObject: SourceFields {
    public var sourcePosition: RecordPosition? { nil }
}

extension Dictionary: SourceFields where Key == String, Value == JSONValue {
    public var sourcePosition: RecordPosition? { nil }

    /// Returns the value of a field or a nested field: `name`, `address.city`, `tags.0`.
    public func value(at path: String) -> JSONValue? {
        if let value = self[path] { return value }
        guard let dot = path.firstIndex(of: "."), let first = self[String(path[..<dot])] else { return nil }
        return first.value(at: String(path[path.index(after: dot)...]))
    }
}
