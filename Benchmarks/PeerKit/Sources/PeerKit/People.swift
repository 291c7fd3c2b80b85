import Foundation

/// The properties of every program's person.
public protocol PersonFields {
    var id: Int64 { get }
    var name: String { get }
    var email: String { get }
    var age: Int { get }
    var score: Double { get }
    var isActive: Bool { get }
    var createdAt: Date { get }
    var notes: String { get }
    var departmentID: Int64 { get }
}

/// A person of the data set.
public struct RawPerson: PersonFields, Sendable {
    /// The number of the person in the generator.
    public var id: Int64
    /// The first and the last name.
    public var name: String
    public var email: String
    public var age: Int
    public var score: Double
    public var isActive: Bool
    /// A multiple of 1/8 s, so that it survives a text format with milliseconds.
    public var createdAt: Date
    public var notes: String
    public var departmentID: Int64

    /// Generates the person with an id.
    public init(id: Int64) {
        var r = SplitMix64(person: id)
        let first = listFIRST[Int(r.next(below: 100))]
        let last = listLAST[Int(r.next(below: 100))]
        self.id = id
        name = "\(first) \(last)"
        email = "\((first + last).lowercased())\(id)@example\(r.next(below: 10)).com"
        age = Int(r.next(below: 100))
        score = r.unit() * 1000.0
        isActive = r.next() & 1 == 1
        createdAt = Date(timeIntervalSinceReferenceDate: 600_000_000.0 + Double(r.next(below: 1_600_000_000)) / 8.0)
        departmentID = 1 + Int64(r.next(below: UInt64(PB.departments)))
        let want = 80 + Int(r.next(below: 41))
        var text = ""
        text.reserveCapacity(128)
        // One word in ten is not ASCII.
        while true {
            let d = r.next()
            let w = d % 10 == 0 ? listUNI[Int((d >> 8) % 16)] : listWORDS[Int((d >> 8) % 100)]
            if text.utf8.count + w.utf8.count + 1 > want { break }
            text += w
            text += " "
        }
        while text.utf8.count < want { text += "." }
        notes = text
    }

    /// Generates persons with consecutive ids.
    public static func make(from first: Int64, count: Int) -> [RawPerson] { (0..<Int64(count)).map { RawPerson(id: first + $0) } }
}

/// Returns the name of the department with an id.
public func departmentName(_ id: Int64) -> String { "Department \(id)" }

/// The ids 1...n shuffled: W9 uses the first `deletes`, W11 the next `imports / 2` as its existing half, W7 the last `updates`.
public func permutation() -> [Int64] {
    var a = (1...Int64(PB.n)).map { $0 }
    var r = SplitMix64(workload: 9)
    for i in stride(from: PB.n - 1, to: 0, by: -1) { a.swapAt(i, Int(r.next(below: UInt64(i + 1)))) }
    return a
}

/// The sources of W11. Even: an existing email with new age, score and notes; odd: a new person.
public func importSources(_ perm: [Int64]) -> [RawPerson] {
    (0..<PB.imports).map { i in
        if i & 1 == 1 { return RawPerson(id: PB.importID + Int64(i / 2)) }
        var p = RawPerson(id: PB.sourceID + Int64(i))
        p.email = RawPerson(id: perm[PB.deletes + i / 2]).email
        p.id = PB.importedID + Int64(i / 2)
        return p
    }
}

/// The changes of W13: ids and new ages. The second half reverts the first, so that the store ends in its initial state.
public func listChanges(_ perm: [Int64]) -> [(id: Int64, age: Int)] {
    var r = SplitMix64(workload: 13)
    let half = PB.listChanges / 2
    let there = (0..<half).map { i in (id: perm[i], age: Int(r.next(below: UInt64(2 * PB.listAge)))) }
    return there + there.map { change in (id: change.id, age: RawPerson(id: change.id).age) }
}
