import Foundation

private let crcTable: [UInt32] = (0..<256).map { i in
    var c = UInt32(i)
    for _ in 0..<8 { c = c & 1 == 1 ? 0xEDB8_8320 ^ (c >> 1) : c >> 1 }
    return c
}

/// Returns the CRC-32 of a text's UTF-8 bytes.
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

/// Adds a number to a checksum.
@inlinable
public func mix(_ h: UInt64, _ x: UInt64) -> UInt64 {
    let a = (h ^ x) &* 0x9E37_79B9_7F4A_7C15
    return a ^ (a >> 32)
}

/// A checksum over every byte of every field. Not measured.
public func fullHash<P: PersonFields>(_ p: P) -> UInt64 { hash(p, id: p.id) }

/// The same without the id, for workloads in which each program assigns the ids of new rows. The email identifies the person.
public func contentHash<P: PersonFields>(_ p: P) -> UInt64 { hash(p, id: 0) }

private func hash<P: PersonFields>(_ p: P, id: Int64) -> UInt64 {
    var h = mix(0xcbf2_9ce4_8422_2325, UInt64(bitPattern: id))
    h = mix(h, crc(p.name))
    h = mix(h, crc(p.email))
    h = mix(h, UInt64(bitPattern: Int64(p.age)))
    h = mix(h, p.score.bitPattern)
    h = mix(h, p.isActive ? 1 : 0)
    h = mix(h, p.createdAt.timeIntervalSinceReferenceDate.bitPattern)
    h = mix(h, crc(p.notes))
    return mix(h, UInt64(bitPattern: p.departmentID))
}

/// A cheap checksum that reads every field. Measured.
@inlinable @inline(__always)
public func quickHash<P: PersonFields>(_ p: P) -> UInt64 {
    var q = UInt64(bitPattern: p.id)
    q &+= UInt64(p.name.utf8.count) &+ UInt64(p.email.utf8.count) &+ UInt64(p.notes.utf8.count)
    q &+= UInt64(p.age) &+ UInt64(p.score) &+ (p.isActive ? 1 : 0)
    q &+= UInt64(p.createdAt.timeIntervalSinceReferenceDate) &+ UInt64(p.departmentID)
    q &+= UInt64(p.name.utf8.first!) &+ UInt64(p.email.utf8.first!) &+ UInt64(p.notes.utf8.first!)
    return q
}

/// Adds a group of W6 to a checksum, with the average rounded to three decimals.
public func groupHash(_ h: UInt64, age: Int, n: Int, avg: Double, min: Double, max: Double) -> UInt64 {
    var h = mix(h, UInt64(bitPattern: Int64(age)))
    h = mix(h, UInt64(bitPattern: Int64(n)))
    h = mix(h, UInt64(bitPattern: Int64((avg * 1000 + 0.5).rounded(.down))))
    h = mix(h, min.bitPattern)
    return mix(h, max.bitPattern)
}

/// A checksum of a list of W13: its persons and their order. Measured.
@inlinable @inline(__always)
public func listHash<P: PersonFields>(_ h: UInt64, _ list: [P]) -> UInt64 {
    var h = mix(h, UInt64(list.count))
    for p in list { h = (h &* 31) &+ UInt64(bitPattern: p.id) &+ UInt64(p.age) }
    return h
}
