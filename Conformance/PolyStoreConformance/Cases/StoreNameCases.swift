import PolyStoreBackend

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The names of stores: different names are different stores, and names of one path are one store.
let storeNameCases: [ConformanceCase] = [
    ConformanceCase(
        "opening.two-names.are-two-stores",
        "Stores at two paths are independent, also if the names differ only in case, in their ends or in their composition."
    ) { run in
        let long = String(repeating: "n", count: 120)
        let pairs = [
            ("store", "Store"), ("store", "store2"), ("store", "store.db"), ("a b", "a  b"), ("é", "e\u{301}"), ("x.1", "x.2"),
            (long + "1", long + "2"), ("a%20b", "a b"),
        ]
        for (number, (one, other)) in pairs.enumerated() {
            let names = ["\(number)\(one)", "\(number)\(other)"]
            if try run.areOneName(names[0], names[1]) { continue }
            var ids: Set<String> = []
            for round in 0..<2 as Range<Int64> {
                let stores = try names.map { try run.open(Fixtures.company, $0) }
                for (index, store) in stores.enumerated() {
                    ids.insert(store.backend.metadata.storeID)
                    if run.target.capabilities.contains(.persistence) || round == 0 {
                        try store.change { changes in
                            try changes.insert(try store.entity("Club"), rowID: round + 1, [.text("\(names[index]) \(round)")])
                        }
                    }
                }
                for (index, store) in stores.enumerated() {
                    let rows = try store.read { try $0.rows(FetchRequest(try store.entity("Club"))) }
                    try run.expect(
                        rows, equals: (0...round).map { [.text("\(names[index]) \($0)")] }, "\(names[index]) beside \(names[1 - index])")
                }
                for store in stores { try store.backend.close() }
                guard run.target.capabilities.contains(.persistence) else { break }
            }
            try run.expect(ids.count, equals: 2, "store ids of \(names)")
        }
    },
    ConformanceCase(
        "opening.other-name.is-the-same-store",
        "Two names of one path, also through a symbolic link, are one store: commits through one are visible through the other.",
        requires: [.persistence], needsFiles: true
    ) { run in
        guard try run.keepsFilesAtItsPath() else { return }
        try FileManager.default.createSymbolicLink(atPath: run.folderPath + "/link", withDestinationPath: run.folderPath)
        let names = ["store", "./store", "link/store", "link/./store", "/store"]
        var count: Int64 = 0
        for pair in names.flatMap({ name in names.map { (name, $0) } }) where pair.0 != pair.1 {
            let first = try run.open(Fixtures.company, pair.0)
            let second = try run.open(Fixtures.company, pair.1)
            for store in [first, second, first] {
                count += 1
                try store.change { try $0.insert(try store.entity("Club"), rowID: count, [.text("\(count)")]) }
                for reader in [first, second] {
                    let found = try reader.read { try $0.ids(FetchRequest(try reader.entity("Club"))) }
                    try run.expect(found, equals: Array(1...count), "after commits through \(pair.0) and \(pair.1)")
                }
            }
            try second.backend.close()
            try first.backend.close()
        }
        let store = try run.open(Fixtures.company)
        try run.expect(try store.ids(FetchRequest(try store.entity("Club"))), equals: Array(1...count), "after reopening")
    },
]

extension ConformanceRun {
    /// Returns whether the file system of the scratch folder does not distinguish two names.
    fileprivate func areOneName(_ one: String, _ other: String) throws -> Bool {
        let folder = folderPath + "/names-" + String(one.prefix(1))
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for name in [one, other] { try Data().write(to: URL(fileURLWithPath: folder + "/" + name)) }
        return try FileManager.default.contentsOfDirectory(atPath: folder).count < 2
    }
}
