// Peer benchmark in Swift: the data set, the clock, the checksums. Mirrors common/peer.h.
import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

public enum PB {
    public static let n = 100_000, departments = 1000, lookups = 100_000, ranges = 1000, limit = 100, scans = 10
    public static let updates = 10_000, deletes = 10_000, durable = 500, relaxed = 5000, imports = 100_000
    public static let importID: Int64 = 100_001, durableID: Int64 = 300_001, relaxedID: Int64 = 400_001, sourceID: Int64 = 600_001
    public static let gamma: UInt64 = 0x9E37_79B9_7F4A_7C15
    public static let verify = (ProcessInfo.processInfo.environment["PB_VERIFY"].flatMap { Int($0) } ?? 0) != 0
}

public struct SplitMix64 {
    @usableFromInline var s: UInt64
    @inlinable public init(seed: UInt64) { s = seed }
    /// person `id` owns draws [64*id, 64*id+64) of the stream with seed 42
    @inlinable public init(person id: Int64) { s = 42 &+ UInt64(bitPattern: id) &* 64 &* 0x9E37_79B9_7F4A_7C15 }
    @inlinable public init(workload w: Int) { s = 42 &+ UInt64(w) &* 1_000_003 }
    @inlinable public mutating func next() -> UInt64 {
        s = s &+ 0x9E37_79B9_7F4A_7C15
        var z = s
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
    @inlinable public mutating func next(below n: UInt64) -> UInt64 { next() % n }
    @inlinable public mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }
}

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

public struct RawPerson: PersonFields, Sendable {
    public var id: Int64
    public var name: String
    public var email: String
    public var age: Int
    public var score: Double
    public var isActive: Bool
    public var createdAt: Date
    public var notes: String
    public var departmentID: Int64

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
        while true {  // one word in ten is not ASCII
            let d = r.next()
            let w = d % 10 == 0 ? listUNI[Int((d >> 8) % 16)] : listWORDS[Int((d >> 8) % 100)]
            if text.utf8.count + w.utf8.count + 1 > want { break }
            text += w
            text += " "
        }
        while text.utf8.count < want { text += "." }
        notes = text
    }
    public static func make(from first: Int64, count: Int) -> [RawPerson] { (0..<Int64(count)).map { RawPerson(id: first + $0) } }
}

public func departmentName(_ id: Int64) -> String { "Department \(id)" }

/// ids 1...n shuffled: the first `deletes` are W9's, the next `imports/2` are the existing half of W11, the last `updates` are W7's
public func permutation() -> [Int64] {
    var a = (1...Int64(PB.n)).map { $0 }
    var r = SplitMix64(workload: 9)
    for i in stride(from: PB.n - 1, to: 0, by: -1) { a.swapAt(i, Int(r.next(below: UInt64(i + 1)))) }
    return a
}
/// W11 sources: even = existing email with new age, score, notes; odd = a new person
public func importSources(_ perm: [Int64]) -> [RawPerson] {
    (0..<PB.imports).map { i in
        if i & 1 == 1 { return RawPerson(id: PB.importID + Int64(i / 2)) }
        var p = RawPerson(id: PB.sourceID + Int64(i))
        p.email = RawPerson(id: perm[PB.deletes + i / 2]).email
        p.id = 200_001 + Int64(i / 2)
        return p
    }
}

// checksums
private let crcTable: [UInt32] = (0..<256).map { i in
    var c = UInt32(i)
    for _ in 0..<8 { c = c & 1 == 1 ? 0xEDB8_8320 ^ (c >> 1) : c >> 1 }
    return c
}
public func crc(_ s: String) -> UInt64 {
    var s = s
    return s.withUTF8 { b in
        crcTable.withUnsafeBufferPointer { t in
            var c: UInt32 = 0xFFFF_FFFF
            for x in b { c = t[Int((c ^ UInt32(x)) & 255)] ^ (c >> 8) }
            return UInt64(c ^ 0xFFFF_FFFF)
        }
    }
}
@inlinable public func mix(_ h: UInt64, _ x: UInt64) -> UInt64 {
    let a = (h ^ x) &* 0x9E37_79B9_7F4A_7C15
    return a ^ (a >> 32)
}
public func fullHash<P: PersonFields>(_ p: P) -> UInt64 {
    var h = mix(0xcbf2_9ce4_8422_2325, UInt64(bitPattern: p.id))
    h = mix(h, crc(p.name))
    h = mix(h, crc(p.email))
    h = mix(h, UInt64(bitPattern: Int64(p.age)))
    h = mix(h, p.score.bitPattern)
    h = mix(h, p.isActive ? 1 : 0)
    h = mix(h, p.createdAt.timeIntervalSinceReferenceDate.bitPattern)
    h = mix(h, crc(p.notes))
    return mix(h, UInt64(bitPattern: p.departmentID))
}
/// cheap, inside the timed part: touches every field
@inlinable @inline(__always) public func quickHash<P: PersonFields>(_ p: P) -> UInt64 {
    var q = UInt64(bitPattern: p.id)
    q &+= UInt64(p.name.utf8.count) &+ UInt64(p.email.utf8.count) &+ UInt64(p.notes.utf8.count)
    q &+= UInt64(p.age) &+ UInt64(p.score) &+ (p.isActive ? 1 : 0)
    q &+= UInt64(p.createdAt.timeIntervalSinceReferenceDate) &+ UInt64(p.departmentID)
    q &+= UInt64(p.name.utf8.first!) &+ UInt64(p.email.utf8.first!) &+ UInt64(p.notes.utf8.first!)
    return q
}
public func groupHash(_ h: UInt64, age: Int, n: Int, avg: Double, min: Double, max: Double) -> UInt64 {
    var h = mix(h, UInt64(bitPattern: Int64(age)))
    h = mix(h, UInt64(bitPattern: Int64(n)))
    h = mix(h, UInt64(bitPattern: Int64((avg * 1000 + 0.5).rounded(.down))))
    h = mix(h, min.bitPattern)
    return mix(h, max.bitPattern)
}

// clock and output
public struct Stamp: Sendable {
    public var wall: Double, cpu: Double
    public init() {
        var t = timespec()
        var u = rusage()
        clock_gettime(CLOCK_MONOTONIC, &t)
        #if canImport(Darwin)
            getrusage(RUSAGE_SELF, &u)
        #else
            getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &u)
        #endif
        wall = Double(t.tv_sec) + Double(t.tv_nsec) * 1e-9
        cpu = Double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + Double(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6
    }
}
nonisolated(unsafe) public var sink: UInt64 = 0
public struct Reporter: Sendable {
    public let peer: String
    public init(_ peer: String) { self.peer = peer }
    public func emit(_ w: String, _ n: Int, _ a: Stamp, _ b: Stamp, check: UInt64? = nil, note: String? = nil) {
        let s = b.wall - a.wall
        var line =
            "{\"peer\":\"\(peer)\",\"workload\":\"\(w)\",\"n\":\(n)"
            + String(
                format: ",\"seconds\":%.9f,\"cpu\":%.6f,\"ops_per_s\":%.1f,\"ns_per_op\":%.1f", s, b.cpu - a.cpu, Double(n) / s,
                s * 1e9 / Double(n))
        if let check { line += ",\"check\":\"" + String(format: "%016lx", check) + "\"" }
        if let note { line += ",\"note\":\"\(note)\"" }
        print(line + "}")
        fflush(nil)
    }
    public func state(_ check: UInt64) {
        print("{\"peer\":\"\(peer)\",\"state\":\"end\",\"check\":\"" + String(format: "%016lx", check) + "\"}")
    }
    /// times `body`; the value is the check that goes with the line, if `always`, or with PB_VERIFY from `verify`
    public func time(
        _ w: String, _ n: Int, note: String? = nil, verify: (() throws -> UInt64)? = nil, always: Bool = false, _ body: () throws -> UInt64
    ) throws {
        let a = Stamp()
        let q = try body()
        let b = Stamp()
        sink = sink &+ q
        var check: UInt64? = always ? q : nil
        if PB.verify, let verify { check = try verify() }
        emit(w, n, a, b, check: check, note: note)
    }
}
