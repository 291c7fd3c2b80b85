import PolyStore

struct ModelCity: Equatable {
    var name = ""
    var updates = 0
    var country: String?
    var centre: Int?
    var route: [Int] = []
}

struct ModelContents: Equatable {
    var cities: [Int: ModelCity] = [:]
    var countries: [String: String] = [:]
}

/// The documented rules of imports, applied to dictionaries without batches or lookups.
struct ImportModel {
    enum Value: Hashable {
        case country(String?)
        case centre(Int?)
        case route([Int])
    }

    struct Reference {
        let city: Int
        let value: Value
        let policy: MissingReference
    }

    var committed = ModelContents()
    private var now = ModelContents()
    /// The unresolved references in the order of their creation.
    private var references: [Reference] = []
    private var nested: [CountrySource] = []
    private var depth = 0

    mutating func run(_ plan: TransactionPlan) -> Outcome {
        (now, references, nested) = (committed, [], [])
        var results: [[Int]?] = []
        for call in plan.calls {
            do {
                results.append(try importCities(call))
            } catch {
                depth = 0
                results.append(nil)
            }
        }
        if plan.kind == .discarded { return Outcome(results: results, ending: .discarded) }
        endCall()
        for reference in references { assign(reference) }
        let isMissing = references.contains { $0.policy == .fail && !targetsExist($0) && isNewest($0) }
        guard !isMissing else { return Outcome(results: results, ending: .missing) }
        committed = now
        return Outcome(results: results, ending: .committed)
    }

    private mutating func importCities(_ sources: [CitySource]) throws -> [Int] {
        depth += 1
        var order: [Int] = []
        var last: [Int: CitySource] = [:]
        for source in sources {
            if source.failsID { throw ImportFailure() }
            guard let number = source.number else { continue }
            if last.updateValue(source, forKey: number) == nil { order.append(number) }
        }
        var imported: [Int] = []
        for number in order {
            guard let source = last[number] else { continue }
            if now.cities[number] == nil {
                if source.skipsInsert { continue }
                now.cities[number] = ModelCity()
            } else if source.skipsUpdate {
                continue
            }
            try update(number, source)
            imported.append(number)
        }
        depth -= 1
        if depth == 0 { endCall() }
        return imported
    }

    private mutating func update(_ number: Int, _ source: CitySource) throws {
        now.cities[number]?.name = source.name
        now.cities[number]?.updates += 1
        references.append(Reference(city: number, value: .country(source.country), policy: source.ifMissing))
        references.append(Reference(city: number, value: .centre(source.centre), policy: source.ifMissing))
        if let country = source.nested {
            if country.code != nil { nested.append(country) }
            references.append(Reference(city: number, value: .country(country.code), policy: .ignore))
        }
        if let route = source.route { references.append(Reference(city: number, value: .route(route), policy: source.ifMissing)) }
        if !source.twin.isEmpty { _ = try importCities(source.twin) }
        if source.fails { throw ImportFailure() }
    }

    /// Imports the nested sources, creates the stubs, and assigns the references whose targets exist, in order.
    private mutating func endCall() {
        for source in nested { if let code = source.code { now.countries[code] = source.name } }
        nested = []
        for reference in references where reference.policy == .createStub {
            switch reference.value {
            case .country(let code): if let code, now.countries[code] == nil { now.countries[code] = "" }
            case .centre(let number): if let number, now.cities[number] == nil { now.cities[number] = ModelCity() }
            case .route(let numbers): for number in numbers where now.cities[number] == nil { now.cities[number] = ModelCity() }
            }
        }
        for reference in references where isNewest(reference) && targetsExist(reference) { assign(reference) }
        // An older reference of a relationship has no effect.
        references = references.filter { isNewest($0) && !targetsExist($0) }
    }

    private func isNewest(_ reference: Reference) -> Bool {
        guard let newest = references.last(where: { $0.city == reference.city && $0.value.isSameRelationship(reference.value) }) else {
            return true
        }
        return newest.value == reference.value && newest.policy == reference.policy
    }

    private func targetsExist(_ reference: Reference) -> Bool {
        switch reference.value {
        case .country(let code): code.map { now.countries[$0] != nil } ?? true
        case .centre(let number): number.map { now.cities[$0] != nil } ?? true
        case .route(let numbers): numbers.allSatisfy { now.cities[$0] != nil }
        }
    }

    private mutating func assign(_ reference: Reference) {
        switch reference.value {
        case .country(let code):
            let isThere = code.map { now.countries[$0] != nil } ?? false
            now.cities[reference.city]?.country = isThere ? code : nil
        case .centre(let number):
            let isThere = number.map { now.cities[$0] != nil } ?? false
            now.cities[reference.city]?.centre = isThere ? number : nil
        case .route(let numbers):
            var route: [Int] = []
            for number in numbers where now.cities[number] != nil && !route.contains(number) { route.append(number) }
            now.cities[reference.city]?.route = route
        }
    }
}

extension ImportModel.Value {
    func isSameRelationship(_ other: Self) -> Bool {
        switch (self, other) {
        case (.country, .country), (.centre, .centre), (.route, .route): true
        default: false
        }
    }
}
