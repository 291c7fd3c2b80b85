extension SchemaDescription {
    /// A hash of everything that determines the stored form of a schema, as 16 hexadecimal digits.
    ///
    /// The order of entities is ignored; the order of an entity's properties is significant because it determines the field indexes. Default values are ignored
    /// because they do not affect stored bytes, and `Date()` or `UUID()` differ at every start. Rules of attributes and the name of the version are ignored
    /// too.
    ///
    /// The hash is 64-bit FNV-1a (http://www.isthe.com/chongo/tech/comp/fnv/) over the bytes that `docs/format.md` specifies. Each call computes it;
    /// ``ResolvedSchema/versionHash`` stores it.
    public var versionHash: String {
        var hasher = SchemaHasher()
        hasher.add(entities.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) { $0.add($1) }
        return hasher.digits
    }
}

/// Hashes the parts of a schema. Each text and each list is preceded by its length, so that no two schemas yield the same bytes.
private struct SchemaHasher {
    private var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    var digits: String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }

    private mutating func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }

    private mutating func add(_ number: Int) {
        let bits = UInt64(bitPattern: Int64(number))
        for shift in stride(from: 56, through: 0, by: -8) { add(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
    }

    private mutating func add(_ flag: Bool) { add(flag ? 1 as UInt8 : 0) }

    private mutating func add(_ text: String) {
        add(text.utf8.count)
        for byte in text.utf8 { add(byte) }
    }

    private mutating func add(_ text: String?) {
        add(text != nil)
        if let text { add(text) }
    }

    mutating func add<Part>(_ parts: [Part], _ body: (inout SchemaHasher, Part) -> Void) {
        add(parts.count)
        for part in parts { body(&self, part) }
    }

    mutating func add(_ entity: EntityDescription) {
        add(entity.name)
        add(entity.originalName)
        add(entity.properties) { hasher, property in
            switch property {
            case .attribute(let attribute): hasher.add(attribute)
            case .relationship(let relationship): hasher.add(relationship)
            }
        }
        add(entity.indexes) { hasher, index in
            hasher.add(index.fields) { $0.add($1) }
            hasher.add(index.isUnique)
            // Adds nothing for an index without fields of JSON attributes, so that existing hashes stay the same.
            if index.readsJSON {
                hasher.add(4 as UInt8)
                for part in index.parts {
                    hasher.add(part.json != nil)
                    guard let json = part.json else { continue }
                    hasher.add(json.keys) { $0.add($1) }
                    hasher.add(json.type.rawValue)
                }
            }
        }
        // Adds nothing for an entity without full-text indexes, so that existing hashes stay the same. Names and weights change nothing that is stored.
        for index in entity.searchIndexes {
            add(5 as UInt8)
            add(index.fields) { $0.add($1) }
            add(index.options.stemming.rawValue)
        }
        // Adds nothing for an entity without a hierarchy, so that existing hashes stay the same.
        if let hierarchy = entity.hierarchy { add(hierarchy) }
    }

    private mutating func add(_ hierarchy: EntityHierarchy) {
        add(3 as UInt8)
        add(hierarchy.isAbstract)
        add(hierarchy.properties) { $0.add($1) }
        add(hierarchy.subentities) { hasher, entity in
            hasher.add(entity.name)
            hasher.add(entity.originalName)
            hasher.add(entity.parent)
            hasher.add(entity.isAbstract)
            hasher.add(entity.properties) { $0.add($1) }
            hasher.add(entity.required) { $0.add($1) }
        }
    }

    private mutating func add(_ attribute: AttributeDescription) {
        add(1 as UInt8)
        add(attribute.name)
        add(attribute.originalName)
        add(attribute.type.rawValue)
        add(attribute.isOptional)
        add(attribute.isUnique)
        add(attribute.isIndexed)
    }

    private mutating func add(_ relationship: RelationshipDescription) {
        add(2 as UInt8)
        add(relationship.name)
        add(relationship.originalName)
        add(relationship.destination)
        add(relationship.isToMany)
        add(relationship.isOrdered)
        add(relationship.inverse)
        add(relationship.deleteRule.rawValue)
        add(relationship.isRequired)
        add(relationship.minCount)
        add(relationship.maxCount != nil)
        if let most = relationship.maxCount { add(most) }
    }
}
