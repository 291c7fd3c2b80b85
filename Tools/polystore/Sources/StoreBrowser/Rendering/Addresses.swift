import BrowserData

/// The addresses of the pages. The query has the whole state of a view.
enum Addresses {
    static func rows(_ entity: String) -> String { QueryItems([("entity", entity)]).address("/rows") }

    /// Returns the address of the rows that satisfy a condition.
    static func rows(_ entity: String, filter: String) -> String {
        QueryItems([("entity", entity), ("filter", filter)]).address("/rows")
    }

    /// Returns the address of the rows that a relationship of an object leads to.
    static func rows(_ link: ObjectPage.Link, of object: ObjectReference) -> String {
        var items = QueryItems([("entity", link.entity), ("of", text(object)), ("via", link.relationship)])
        items["from"] = link.incomingFrom
        return items.address("/rows")
    }

    static func groups(_ entity: String) -> String { QueryItems([("entity", entity)]).address("/groups") }

    static func object(_ object: ObjectReference, path: String = "/object") -> String {
        QueryItems([("entity", object.entity), ("id", "\(object.rowID)")]).address(path)
    }

    /// Returns the address of the whole value of a property.
    static func value(_ property: String, of object: ObjectReference) -> String {
        QueryItems([("entity", object.entity), ("id", "\(object.rowID)"), ("property", property)]).address("/value")
    }

    static func history(_ object: ObjectReference) -> String { self.object(object, path: "/history") }

    /// Returns an object as one item of an address.
    static func text(_ object: ObjectReference) -> String { "\(object.entity)/\(object.rowID)" }

    /// Reads an object from an item of an address; nil for another text. The name of an entity can contain a slash.
    static func reference(_ text: String) -> ObjectReference? {
        guard let slash = text.lastIndex(of: "/"), let rowID = Int64(text[text.index(after: slash)...]) else { return nil }
        return ObjectReference(entity: String(text[..<slash]), rowID: rowID)
    }
}

extension ObjectReference {
    /// Returns a name of the object for a link: the given one, or its entity and row id if that has no visible character.
    func named(_ name: String?) -> String {
        let isVisible = name?.unicodeScalars.contains { scalar in
            let properties = scalar.properties
            return !properties.isWhitespace && ![.format, .control].contains(properties.generalCategory)
        }
        return isVisible == true ? name ?? "" : "\(entity) \(rowID)"
    }
}

extension BrowserRequest {
    /// Returns the object that the address names.
    /// - Throws: `BrowserError` if the address names none.
    func object() throws -> ObjectReference {
        guard let rowID: Int64 = try number("id") else {
            throw BrowserError(400, "The address has no \"id\". Return to the list of entities.")
        }
        return ObjectReference(entity: try required("entity"), rowID: rowID)
    }
}
