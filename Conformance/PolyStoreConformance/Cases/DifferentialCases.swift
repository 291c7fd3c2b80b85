/// Random schemas, changes and requests against a model that shares no code with the framework's evaluator, order or executor.
let differentialCases: [ConformanceCase] = (1...6).map { seed in
    ConformanceCase(
        "differential.seed-\(seed)", "Random requests on random objects, before and after random changes, answer as a naive model does."
    ) { run in
        // Several small cases each, as one can only hold so much.
        for part in 0..<10 { try Oracle.run(UInt64(seed * 7919 + part), run, name: "part-\(part)") }
    }
}
