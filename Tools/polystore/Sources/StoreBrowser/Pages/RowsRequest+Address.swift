import BrowserData

extension RowsRequest {
    /// Reads the rows that an address names.
    /// - Throws: `BrowserError` for an item that is not valid.
    init(_ request: BrowserRequest) throws {
        self.init(try request.required("entity"))
        let query = request.query
        columns = query.all("column").filter { !$0.isEmpty }
        order = query["order"].map { $0.hasPrefix("-") ? Order(String($0.dropFirst()), isAscending: false) : Order($0) }
        filter = query.text("filter")
        search = query.text("search")
        searchIndex = query["index"] ?? ""
        size = min(max(try request.number("size") ?? size, 1), RowsRequest.greatestSize)
        links = try Self.links(query)
        position = try Self.position(query)
    }

    /// The names of the items for the page of the rows.
    static let positionNames: Set<String> = ["after", "before", "page"]
    /// The names of the items of links.
    static let linkNames: Set<String> = ["of", "via", "from"]

    /// Reads the links. Of several links each begins with its object.
    private static func links(_ query: QueryItems) throws -> [Link] {
        let items = query.items.filter { linkNames.contains($0.name) && !$0.value.isEmpty }
        guard items.count(where: { $0.name == "of" }) > 1 else { return try link(query).map { [$0] } ?? [] }
        return try items.indices.filter { items[$0].name == "of" }.map { start in
            let rest = items[start...].dropFirst().prefix { $0.name != "of" }
            return try link(QueryItems([items[start]] + rest))
        }.compactMap { $0 }
    }

    private static func link(_ query: QueryItems) throws -> Link? {
        guard let text = query["of"] else { return nil }
        guard let object = Addresses.reference(text), let relationship = query["via"] else {
            throw BrowserError(400, "\"of\" names an object and \"via\" a relationship, such as of=Country/75&via=cities.")
        }
        return Link(object: object, relationship: relationship, incomingFrom: query["from"])
    }

    private static func position(_ query: QueryItems) throws -> Position {
        if let text = query["after"] { return .after(try token(text)) }
        if let text = query["before"] { return .before(try token(text)) }
        return query["page"] == "last" ? .last : .first
    }

    private static func token(_ text: String) throws -> PageToken {
        guard let token = PageToken(text) else { throw BrowserError(400, "The address names no page of the rows. Open the first page.") }
        return token
    }
}

extension RowsRequest.Link {
    /// The link as items of an address.
    var items: [(name: String, value: String)] {
        [("of", Addresses.text(object)), ("via", relationship)] + (incomingFrom.map { [("from", $0)] } ?? [])
    }
}

extension RowsRequest.Order {
    /// The order as an address has it.
    var item: String { isAscending ? term : "-" + term }
}
