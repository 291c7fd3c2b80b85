// search generate CORPUS DOCUMENTS
// search build|commits|queries sqlite|lmdb|leveldb DATABASE CORPUS DOCUMENTS [NAME QUERY]...
import Foundation
import PolyStoreSearch
import PolyStoreSearchIndex

func cpu() -> Double {
    var usage = rusage()
    getrusage(0, &usage)
    return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
}

func resident() -> Int {
    var usage = rusage()
    getrusage(0, &usage)
    return usage.ru_maxrss / 1024
}

struct Random {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

/// The word of a rank: syllables of two letters, few for frequent words.
func word(_ rank: Int) -> [UInt8] {
    let consonants = Array("bcdfghklmnprstvz".utf8)
    let vowels = Array("aeiou".utf8)
    var rest = rank
    var bytes: [UInt8] = []
    repeat {
        let syllable = rest % 80
        bytes += [consonants[syllable / 5], vowels[syllable % 5]]
        rest = rest / 80 - 1
    } while rest >= 0
    return bytes
}

func generate(_ path: String, _ documents: Int) {
    let vocabulary = 100_000
    var cumulative: [Double] = []
    var sum = 0.0
    for rank in 0..<vocabulary {
        sum += 1 / Double(rank + 1)
        cumulative.append(sum)
    }
    let words = (0..<vocabulary).map(word)
    var random = Random(state: 1)
    guard let file = fopen(path, "w") else { return }
    for _ in 0..<documents {
        var line: [UInt8] = []
        for _ in 0..<50 + Int(random.next() % 451) {
            let sought = Double(random.next() >> 11) / Double(1 << 53) * sum
            var (low, high) = (0, vocabulary - 1)
            while low < high {
                let middle = (low + high) / 2
                if cumulative[middle] < sought { low = middle + 1 } else { high = middle }
            }
            line += words[low]
            line.append(32)
        }
        line[line.count - 1] = 10
        fwrite(line, 1, line.count, file)
    }
    fclose(file)
}

func forEachDocument(_ path: String, _ limit: Int, _ body: (Int64, String) throws -> Void) throws {
    guard let file = fopen(path, "r") else { throw Failure(description: "cannot open \(path)") }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    var count = 0
    while count < limit {
        let length = getline(&line, &capacity, file)
        guard length > 0, let line else { break }
        count += 1
        let bytes = UnsafeRawBufferPointer(start: line, count: length - 1)
        try body(Int64(count), String(decoding: bytes, as: UTF8.self))
    }
    fclose(file)
}

func query(_ text: String, _ statistics: Bool = false) throws -> ResolvedSearch {
    // `a OR b` is the only operator besides phrases in quotes and a prefix with an asterisk.
    var phrases: [ResolvedSearch.Phrase] = []
    let isAny = text.contains(" OR ")
    var rest = Substring(text.replacingOccurrences(of: " OR ", with: " "))
    while !rest.isEmpty {
        let isQuoted = rest.first == "\""
        if isQuoted { rest = rest.dropFirst() }
        let end = rest.firstIndex(of: isQuoted ? "\"" : " ") ?? rest.endIndex
        var part = String(rest[..<end])
        rest = rest[end...].drop { $0 == "\"" || $0 == " " }
        let isPrefix = part.hasSuffix("*")
        if isPrefix { part.removeLast() }
        phrases.append(.init(terms: part.split(separator: " ").map { Array($0.utf8) }, isPrefix: isPrefix, fields: .max))
    }
    let nodes = phrases.indices.map { ResolvedSearch.Node.phrase($0) }
    return ResolvedSearch(phrases: phrases, root: nodes.count == 1 ? nodes[0] : isAny ? .or(nodes) : .and(nodes))
}

/// The limits; the environment variables FANOUT and MEMORY change them.
let limits: SearchIndexLimits = {
    var limits = SearchIndexLimits()
    if let text = ProcessInfo.processInfo.environment["FANOUT"], let value = Int(text) { limits.fanout = value }
    if let text = ProcessInfo.processInfo.environment["MEMORY"], let value = Int(text) { limits.memory = value }
    return limits
}()

func run(_ arguments: [String]) throws {
    if arguments[1] == "generate" { return generate(arguments[2], Int(arguments[3]) ?? 0) }
    let store: any PageStore =
        switch arguments[2] {
        case "sqlite": try SQLitePages(arguments[3])
        case "lmdb": try LMDBPages(arguments[3])
        case "leveldb": try LevelDBPages(arguments[3])
        default: throw Failure(description: "\(arguments[2]) is not an engine; use sqlite, lmdb or leveldb")
        }
    let count = Int(arguments[5]) ?? 0
    let start = cpu()
    switch arguments[1] {
    case "build":
        try store.begin()
        let writer = SearchIndexWriter(store, fields: 1, options: SearchOptions(), limits: limits)
        try forEachDocument(arguments[4], count) { try writer.replace($0, old: nil, new: [$1]) }
        try writer.flush()
        let flushed = cpu()
        try writer.optimize()
        try store.commit()
        print(String(format: "build %d cpu %.2f s (optimize %.2f s), resident %d MiB", count, cpu() - start, cpu() - flushed, resident()))
    case "commits":
        var times: [Double] = []
        var committing = 0.0
        try forEachDocument(arguments[4], count) { document, text in
            let begin = cpu()
            try store.begin()
            let writer = SearchIndexWriter(store, fields: 1, options: SearchOptions(), limits: limits)
            try writer.replace(document, old: nil, new: [text])
            try writer.flush()
            let flushed = cpu()
            try store.commit()
            committing += cpu() - flushed
            times.append(cpu() - begin)
        }
        times.sort()
        print(
            String(
                format: "commits %d cpu %.2f s (in COMMIT %.2f s), resident %d MiB, median %.0f us, p99 %.0f us, max %.0f us", count,
                cpu() - start, committing, resident(), times[times.count / 2] * 1e6, times[times.count * 99 / 100] * 1e6,
                times[times.count - 1] * 1e6
            )
        )
    case "optimize":
        try store.begin()
        let writer = SearchIndexWriter(store, fields: 1, options: SearchOptions(), limits: limits)
        try writer.optimize()
        try store.commit()
        print(String(format: "optimize cpu %.2f s, resident %d MiB", cpu() - start, resident()))
    default:
        try store.begin()
        for index in stride(from: 6, to: arguments.count - 1, by: 2) {
            let search = try query(arguments[index + 1])
            var (check, found) = (Int64(0), 0)
            var costs = SearchCosts()
            let repeats = 20
            var start = cpu()
            for _ in 0..<repeats {
                let reader = SearchIndexReader(store, fields: 1)
                let statistics = try reader.statistics(search) {}
                let hits = try reader.best(10, search, scoredBy: statistics, weights: [1]) {}
                check = hits.documents.reduce(0, +)
                costs = hits.costs
            }
            let best = (cpu() - start) / Double(repeats)
            start = cpu()
            for _ in 0..<repeats {
                found = try SearchIndexReader(store, fields: 1).all(search, scoredBy: nil, weights: [1]) {}.documents.count
            }
            let all = (cpu() - start) / Double(repeats)
            print(
                String(
                    format: "%@: top 10 %.3f ms, all %.3f ms, %d documents, check %d, postings %d, scored %d", arguments[index], best * 1e3,
                    all * 1e3, found, check, costs.postings, costs.scored
                )
            )
        }
        try store.commit()
    }
}

do {
    try run(CommandLine.arguments)
} catch {
    print("error: \(error)")
    exit(1)
}
