/// Random schemas, changes and requests, compared with a model that shares no code with the framework's evaluator, sort or executor.
let differentialCases: [ConformanceCase] = randomRequestCases + randomSearchCases

private let randomSearchCases: [ConformanceCase] = (1...4).map { seed in
    ConformanceCase(
        "search.differential.seed-\(seed)",
        "Random searches of random texts, before and after random changes, match a naive model to the last bit."
    ) { run in
        for part in 0..<6 { try Oracle.run(UInt64(seed * 6007 + part), run, name: "part-\(part)", isSearched: true) }
    }
}

private let randomRequestCases: [ConformanceCase] = (1...6).map { seed in
    ConformanceCase(
        "differential.seed-\(seed)", "Random requests on random objects, before and after random changes, match a naive model."
    ) { run in
        // Several small cases each, because the size of one is limited.
        for part in 0..<10 { try Oracle.run(UInt64(seed * 7919 + part), run, name: "part-\(part)") }
    }
}
