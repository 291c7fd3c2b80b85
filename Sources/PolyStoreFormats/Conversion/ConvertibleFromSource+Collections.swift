extension ConvertibleFromSource where Self: RawRepresentable, RawValue: ConvertibleFromSource {
    /// Creates a value from its raw value.
    public init(source: JSONValue, options: ConversionOptions) throws {
        guard let value = Self(rawValue: try RawValue(source: source, options: options)) else {
            throw RecordError(.outOfRange, "\(source.shortDescription) is not a value of \(Self.self)")
        }
        self = value
    }
}

extension Optional: ConvertibleFromSource where Wrapped: ConvertibleFromSource {
    /// Creates nil from null.
    public init(source: JSONValue, options: ConversionOptions) throws {
        self = source.isNull ? nil : try Wrapped(source: source, options: options)
    }
}

extension Array: ConvertibleFromSource where Element: ConvertibleFromSource {
    /// Creates an array from an array. If text is converted, also accepts JSON text, which CSV writers produce.
    public init(source: JSONValue, options: ConversionOptions) throws {
        guard case .array(let elements) = try source.parsedIfText(options) else {
            throw RecordError.wrongType(expected: "an array", found: source)
        }
        self = []
        reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do {
                append(try Element(source: element, options: options))
            } catch let error as RecordError {
                throw error.atIndex(index)
            }
        }
    }
}

extension Set: ConvertibleFromSource where Element: ConvertibleFromSource {
    /// Creates a set from an array. Equal elements are merged.
    public init(source: JSONValue, options: ConversionOptions) throws {
        self.init(try [Element](source: source, options: options))
    }
}

extension Dictionary: ConvertibleFromSource where Key == String, Value: ConvertibleFromSource {
    /// Creates a dictionary from the fields of an object.
    public init(source: JSONValue, options: ConversionOptions) throws {
        guard case .object(let object) = try source.parsedIfText(options) else {
            throw RecordError.wrongType(expected: "an object", found: source)
        }
        self.init(minimumCapacity: object.count)
        for (key, value) in object {
            do {
                self[key] = try Value(source: value, options: options)
            } catch let error as RecordError {
                throw error.inField(key)
            }
        }
    }
}

extension JSONValue {
    /// Returns the parsed value of JSON text, if text is converted and begins with a bracket; otherwise returns the value unchanged.
    func parsedIfText(_ options: ConversionOptions) throws -> JSONValue {
        guard options.convertsText, case .string(let text) = self, let first = text.utf8.first, first == 0x5b || first == 0x7b else {
            return self
        }
        return try JSONValue(parsing: text)
    }
}
