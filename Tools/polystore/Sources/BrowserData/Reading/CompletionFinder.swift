import PolyStoreBackend
import PolyStoreCore

/// Finds the words that can continue a condition.
struct CompletionFinder: Sendable {
    /// The part of the grammar that is expected at the caret.
    enum Expectation: Equatable {
        case operand
        /// An operator after a path; nil after another operand.
        case comparison(String?)
        /// A value to compare a path with.
        case value(String?)
        case conjunction
    }

    let store: BrowserStore
    let model: EntityModel

    /// The greatest number of words.
    static let most = 50
    /// The greatest number of values of an attribute.
    static let mostValues = 10

    private static let conjunctions: Set<String> = ["AND", "OR"]
    private static let modifiers: Set<String> = ["NOT", "ANY", "SOME", "ALL", "NONE"]
    private static let wordOperators: Set<String> = ["IN", "BETWEEN", "CONTAINS", "BEGINSWITH", "ENDSWITH", "LIKE", "MATCHES"]
    private static let comparisons: Set<String> = ["==", "=", "!=", "<>", "<", "<=", "=<", ">", ">=", "=>"]

    /// Returns what the grammar expects after tokens.
    static func expectation(after tokens: [FilterTokens.Token]) -> Expectation {
        var state = Expectation.operand
        for token in tokens { state = next(state, token) }
        return state
    }

    private static func next(_ state: Expectation, _ token: FilterTokens.Token) -> Expectation {
        switch (state, token) {
        case (_, .word(let word)) where conjunctions.contains(word.uppercased()): return .operand
        case (_, .symbol("&&")), (_, .symbol("||")): return .operand
        case (.operand, .word(let word)):
            if modifiers.contains(word.uppercased()) { return .operand }
            return ["TRUEPREDICATE", "FALSEPREDICATE"].contains(word.uppercased()) ? .conjunction : .comparison(word)
        case (.operand, .text), (.operand, .number): return .comparison(nil)
        case (.operand, .symbol): return .operand
        case (.comparison(let path), .word(let word)): return wordOperators.contains(word.uppercased()) ? .value(path) : state
        case (.comparison(let path), .symbol(let symbol)):
            return comparisons.contains(symbol) || "+-*/**".contains(symbol) ? .value(path) : state
        case (.comparison, _): return .conjunction
        case (.value, .symbol): return state
        case (.value, _): return .conjunction
        case (.conjunction, .symbol(let symbol)): return [",", "+", "-", "*", "/", "**"].contains(symbol) ? .value(nil) : state
        case (.conjunction, _): return state
        }
    }

    /// Returns the words for a place.
    func words(_ tokens: FilterTokens) async throws -> [Completion] {
        switch (Self.expectation(after: tokens.complete), tokens.current) {
        case (.operand, .word(let typed)?): operands(typed)
        case (.operand, nil): operands("")
        case (.comparison(let path), .word(let typed)?): matching(operators(of: path), typed)
        case (.comparison(let path), nil): operators(of: path)
        case (.value(let path), .text(let typed)?): try await values(of: path, beginning: typed)
        case (.value(let path), .word(let typed)?): matching(constants(of: path), typed) + operands(typed).filter { $0.kind != .keyword }
        case (.value(let path), nil): try await constants(of: path) + values(of: path, beginning: "")
        case (.conjunction, .word(let typed)?): matching(Self.joining, typed)
        case (.conjunction, nil): Self.joining
        default: []
        }
    }

    private static let joining = [Completion("AND", kind: .keyword), Completion("OR", kind: .keyword)]

    private func matching(_ words: [Completion], _ typed: String) -> [Completion] {
        let typed = typed.lowercased()
        return words.filter { $0.text.lowercased().hasPrefix(typed) }
    }

    // MARK: Names

    /// Returns the properties at the end of a path that is being typed; those that begin with the last name first, then those that contain it.
    private func operands(_ typed: String) -> [Completion] {
        let parts = Self.lastName(of: typed)
        guard let model = target(of: parts.path) else { return [] }
        let name = parts.name.drop { $0 == "#" || $0 == "\"" }.lowercased()
        let prefix = parts.path.isEmpty ? "" : parts.path + "."
        let all = model.properties.map { property in
            switch property {
            case .attribute(let attribute):
                Completion(prefix + attribute.name.asPath, detail: attribute.type.rawValue, kind: .attribute)
            case .relationship(let relationship):
                Completion(
                    prefix + relationship.name.asPath,
                    detail: relationship.isToMany ? "\(relationship.destination), many" : relationship.destination,
                    kind: .relationship)
            }
        }
        let names = zip(all, model.properties.map { $0.name.lowercased() })
        var words = names.filter { $1.hasPrefix(name) }.map(\.0)
        if !name.isEmpty { words += names.filter { !$1.hasPrefix(name) && $1.contains(name) }.map(\.0) }
        if parts.path.isEmpty { words += matching(Self.modifiers.sorted().map { Completion($0, kind: .keyword) }, typed) }
        if parts.endsInMany { words += matching([Completion(prefix + "@count", detail: "number", kind: .operation)], typed) }
        return Array(words.prefix(Self.most))
    }

    /// Splits a path into what leads to an entity and the name that is being typed.
    private static func lastName(of typed: String) -> (path: String, name: String, endsInMany: Bool) {
        var (isQuoted, dot) = (false, String.Index?.none)
        for index in typed.indices {
            if typed[index] == "\"" { isQuoted.toggle() } else if typed[index] == ".", !isQuoted { dot = index }
        }
        guard let dot else { return ("", typed, false) }
        return (String(typed[..<dot]), String(typed[typed.index(after: dot)...]), true)
    }

    /// Returns the entity that a path of relationships leads to; nil for another path.
    private func target(of path: String) -> EntityModel? {
        guard !path.isEmpty else { return model }
        guard let names = PathNames(path)?.names else { return nil }
        var current = model
        for name in names where name != "SELF" {
            guard let relationship = current.relationship(name), let next = try? store.model(relationship.destination) else { return nil }
            current = next
        }
        return current
    }

    // MARK: Operators and values

    private func property(_ path: String?) -> PropertyDescription? {
        guard let path, let names = PathNames(path)?.names, let last = names.last else { return nil }
        let before = names.dropLast().map(\.asPath).joined(separator: ".")
        return target(of: before)?.property(last)
    }

    private func operators(of path: String?) -> [Completion] {
        let texts = ["==", "!=", "BEGINSWITH[c]", "CONTAINS[c]", "ENDSWITH[c]", "LIKE[c]", "MATCHES", "IN", "<", ">"]
        let orders = ["==", "!=", "<", "<=", ">", ">=", "BETWEEN", "IN"]
        let names: [String] =
            switch property(path) {
            case .attribute(let attribute)?:
                switch attribute.type {
                case .string, .url: texts
                case .bool: ["==", "!="]
                case .json: ["CONTAINS", "==", "!="]
                case .data, .uuid: ["==", "!=", "IN"]
                default: orders
                }
            case .relationship(let relationship)?: relationship.isToMany ? [] : ["==", "!="]
            case nil: orders
            }
        return names.map { Completion($0, kind: .operation) }
    }

    private func constants(of path: String?) -> [Completion] {
        var words: [Completion] = []
        switch property(path) {
        case .attribute(let attribute)?:
            if attribute.type == .bool { words = ["TRUE", "FALSE"].map { Completion($0, kind: .value) } }
            if attribute.type == .date { words = [Completion("now()", kind: .value)] }
            if attribute.isOptional { words.append(Completion("NULL", kind: .value)) }
        case .relationship?: words = [Completion("NULL", kind: .value)]
        case nil: break
        }
        return words
    }

    /// Returns the texts of an attribute that begin with what was typed, if an index lists them.
    private func values(of path: String?, beginning typed: String) async throws -> [Completion] {
        guard let path, case .attribute(let attribute)? = property(path), attribute.type == .string, let names = PathNames(path)?.names,
            let last = names.last, let owner = target(of: names.dropLast().map(\.asPath).joined(separator: ".")), owner.isIndexed(last)
        else { return [] }
        return try await store.reading(timeLimit: .seconds(2)) { context in
            var (found, previous) = ([Completion](), String?.none)
            // Long texts are left out, and there may be many.
            for _ in 0..<5 * Self.mostValues where found.count < Self.mostValues {
                var query = EntityQuery(owner.name).where("\(last.asPath) BEGINSWITH %@", typed)
                if let previous { query = query.where("\(last.asPath) > %@", previous) }
                let row = try context.queryAttributes(
                    query.orderBy(PathNames(last.asPath)?.order ?? last.asPath).limit(1), Select(SelectTerm(last.asPath, as: "value"))
                ).first
                guard let text = row?["value"]?.string else { break }
                if text.utf8.count <= 100 { found.append(Completion("'\(text.escapedForText)'", kind: .value)) }
                previous = text
            }
            return found
        }
    }
}
