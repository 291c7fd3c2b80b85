import ArgumentParser
import Foundation
import PolyStoreCore
import PolyStoreFormats

/// The arguments of every command that reads the objects of an entity.
struct EntityArgument: ParsableArguments {
    @Argument(help: "The name of the entity or subentity.", completion: .custom(Completions.entities))
    var entity: String
}

/// A condition with its values.
struct ConditionArgument: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "The condition, a format string: \"age > 30 AND department.title BEGINSWITH 'R'\".",
            discussion: """
                Texts are in single quotes. A path follows relationships: country.continent.name. Over to-many relationships: \
                ANY cities.population > 1000000, cities.@count == 0, SUBQUERY(cities, $c, $c.isCapital == TRUE).@count > 0. Operators: == != < <= > >= IN \
                BETWEEN CONTAINS BEGINSWITH ENDSWITH LIKE MATCHES AND OR NOT; [c] and [d] ignore case and accents.
                """,
            valueName: "condition"))
    var condition: String?

    @Option(
        name: .customLong("value"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "The value of the next %@ in the condition; can be repeated.",
            discussion:
                "A number, true, false, null, a date such as 2026-01-31 or 2026-01-31T08:00:00Z, a UUID; anything else is a text, and so is text:VALUE."
        ))
    var values: [String] = []

    /// Returns the objects of an entity that satisfy the condition.
    func query(_ entity: String) -> EntityQuery {
        let query = EntityQuery(entity)
        guard let condition, condition.contains(where: { !$0.isWhitespace }) else { return query }
        return query.where(condition, arguments: values.map(Self.value))
    }

    func validate() throws {
        guard condition == nil, !values.isEmpty else { return }
        throw ValidationError("--value belongs to a %@ of a condition, and there is no condition.")
    }

    private static func value(_ text: String) -> (any QueryArgument & Sendable)? {
        if text.hasPrefix("text:") { return String(text.dropFirst("text:".count)) }
        switch text.lowercased() {
        case "null", "nil": return nil
        case "true": return true
        case "false": return false
        default: break
        }
        if let integer = Int64(text) { return integer }
        if let integer = UInt64(text) { return integer }
        if text.first.map({ $0.isNumber || "-+.".contains($0) }) ?? false, let real = Double(text) { return real }
        if let uuid = UUID(uuidString: text) { return uuid }
        if text.wholeMatch(of: /\d{4}-\d\d-\d\d([T ].*)?/) != nil, let date = try? DateFormats.default.date(from: .string(text)) {
            return date
        }
        return text
    }
}

/// The order of rows, and the part of them that is read.
struct SliceOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The order: names, paths or calculations, each with an optional asc or desc: \"country.name, population desc\".",
            valueName: "keys"))
    var order: String?

    @Option(parsing: .unconditional, help: ArgumentHelp("The greatest number of rows.", valueName: "count"))
    var limit: Int?

    @Option(parsing: .unconditional, help: ArgumentHelp("The number of rows to leave out.", valueName: "count"))
    var offset: Int?

    func validate() throws {
        if let limit, limit < 0 { throw ValidationError("--limit is a number of rows, not \(limit).") }
        if let offset, offset < 0 { throw ValidationError("--offset is a number of rows, not \(offset).") }
    }

    /// Returns a query with the order and the slice.
    /// - Parameter columns: The columns whose names can be keys.
    func apply(to query: EntityQuery, of properties: EntityProperties? = nil, columns: [(text: String, name: String?)] = []) throws
        -> EntityQuery
    {
        var query = query
        for key in try order.map({ try TermList.parts($0, option: "--order") }) ?? [] {
            let words = key.split(whereSeparator: \.isWhitespace)
            let direction = words.count > 1 ? words.last?.lowercased() : nil
            let isDirected = direction == "asc" || direction == "desc"
            let path = isDirected ? String(key.dropLast(direction?.count ?? 0)).trimmingCharacters(in: .whitespaces) : key
            let named = columns.first { $0.name == path && properties?.property(at: path) == nil }?.text
            query = query.orderBy(named ?? path, ascending: direction != "desc")
        }
        if let limit { query = query.limit(limit) }
        if let offset { query = query.offset(offset) }
        return query
    }
}
