import PolyStoreBackend
public import PolyStoreKernel
public import PolyStoreSearch

// What a search found in the texts of an object, by the fields and the options of a full-text index of its model. The stores are not read: the texts are those of the object.

extension Search {
    /// Returns the parts of a text attribute that the search found, ascending and without overlaps: `search.highlights(in: \.title, of: note)`.
    /// - Parameters:
    ///   - path: A text attribute of the index. A null value has no parts.
    ///   - object: The object.
    ///   - index: The name of the index; empty for the one without a name, or the only one.
    /// - Throws: `invalidPredicate` if the model has no such index, if the attribute does not belong to it, or if a strict search names another attribute.
    public func highlights<T: Model>(in path: KeyPath<T, String>, of object: T, index: String = "") throws -> [Range<String.Index>] {
        let (matcher, field) = try matcher(for: path, index)
        return matcher.highlights(in: object[keyPath: path], field: field)
    }

    /// Returns the parts of an optional text attribute that the search found.
    @_disfavoredOverload
    public func highlights<T: Model>(in path: KeyPath<T, String?>, of object: T, index: String = "") throws -> [Range<String.Index>] {
        let (matcher, field) = try matcher(for: path, index)
        return object[keyPath: path].map { matcher.highlights(in: $0, field: field) } ?? []
    }

    /// Returns a text attribute with marks around what the search found: `search.highlighted(\.title, of: note, prefix: "<b>", suffix: "</b>", markup: .html)`.
    /// - Parameters:
    ///   - path: A text attribute of the index.
    ///   - object: The object.
    ///   - index: The name of the index; empty for the one without a name, or the only one.
    ///   - prefix: Written before each highlight.
    ///   - suffix: Written after each highlight.
    ///   - markup: How the text itself is written.
    /// - Throws: `invalidPredicate`, as `highlights`.
    public func highlighted<T: Model>(
        _ path: KeyPath<T, String>, of object: T, index: String = "", prefix: String = "<b>", suffix: String = "</b>",
        markup: SearchMarkup = .plain
    ) throws -> String {
        let (matcher, field) = try matcher(for: path, index)
        return matcher.highlighted(object[keyPath: path], field: field, prefix: prefix, suffix: suffix, markup: markup)
    }

    /// Returns an optional text attribute with marks around what the search found; nil for null.
    @_disfavoredOverload
    public func highlighted<T: Model>(
        _ path: KeyPath<T, String?>, of object: T, index: String = "", prefix: String = "<b>", suffix: String = "</b>",
        markup: SearchMarkup = .plain
    ) throws -> String? {
        let (matcher, field) = try matcher(for: path, index)
        return object[keyPath: path].map { matcher.highlighted($0, field: field, prefix: prefix, suffix: suffix, markup: markup) }
    }

    /// Returns the part of an object's texts with the most of what the search found; nil if nothing was found in them.
    /// - Parameters:
    ///   - object: The object.
    ///   - index: The name of the index; empty for the one without a name, or the only one.
    ///   - tokens: The maximum number of words of the part.
    ///   - ellipsis: Written where the text was cut.
    /// - Throws: `invalidPredicate` if the model has no such index, or if a strict search names another attribute.
    public func snippet<T: Model>(of object: T, index: String = "", tokens: Int = 16, ellipsis: String = "…") throws -> SearchSnippet? {
        let (declared, matcher) = try matcher(T.self, index)
        let paths = Dictionary(T._$properties.names.map { ($0.name, $0.path) }, uniquingKeysWith: { first, _ in first })
        let texts = declared.fields.map { name in paths[name].flatMap { text(object[keyPath: $0]) } }
        return matcher.snippet(of: texts, tokens: tokens, ellipsis: ellipsis)
    }

    /// Returns the text of an attribute: of a text, an optional one, or an enumeration with texts as raw values.
    private func text(_ value: Any?) -> String? {
        if let text = value as? String { return text }
        return (value as? any RawRepresentable)?.rawValue as? String
    }

    private func matcher<T: Model>(for path: PartialKeyPath<T>, _ index: String) throws -> (matcher: SearchMatcher, field: Int) {
        let (declared, matcher) = try matcher(T.self, index)
        guard let name = T._$properties.knownName(path), let field = declared.fields.firstIndex(of: name) else {
            throw StoreError(
                .invalidPredicate,
                "\(T._$properties.description(of: path)) does not belong to the full-text index over \(declared.fields.joined(separator: ", ")).",
                entity: T._$entityName)
        }
        return (matcher, field)
    }

    private func matcher<T: Model>(_ type: T.Type, _ name: String) throws -> (SearchIndexDescription, SearchMatcher) {
        let indexes = T.storedEntity.searchIndexes
        guard let index = indexes.first(where: { $0.name == name }) ?? (name.isEmpty && indexes.count == 1 ? indexes[0] : nil) else {
            throw StoreError(
                .invalidPredicate,
                indexes.isEmpty
                    ? "\(T._$entityName) has no full-text index: declare #Search(\\.…) with its text attributes in the class."
                    : "\(T._$entityName) has no full-text index named \(Value.text(name).literal); name one of \(indexes.map { Value.text($0.name).literal }.joined(separator: ", ")).",
                entity: T._$entityName)
        }
        do {
            return (index, SearchMatcher(try resolved(fields: index.fields, options: index.options), index.options))
        } catch { throw StoreError(.invalidPredicate, "\(error)", entity: T._$entityName) }
    }
}
