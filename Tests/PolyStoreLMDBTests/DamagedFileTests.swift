import EngineTestSupport
import Foundation
import PolyStoreBackend
import TestSupport
import Testing

@testable import PolyStoreLMDB

/// LMDB's pages have no checksums: the engine validates each page before LMDB reads it.
@Suite struct DamagedFileTests {
    private static let page = 4096

    /// Returns the file of a closed store with indexes of two levels.
    private func sample(_ folder: Folder) throws -> Data {
        let store = try notes(folder.file())
        try store.addNotes(1...100, size: 10, .full)
        try store.addNotes(101...110, size: 6000, .full)
        try store.write { changes in for id in Int64(90)...105 { try changes.delete("Note", id) } }
        try store.backend.close()
        return try folder.bytes()
    }

    private static let errors: [StoreError.Code] = [.corrupt, .notAStore, .incompatibleSchema]

    /// Opens a file and reads all of it.
    /// - Returns: The error, or nil if every note has its original values.
    private func read(_ folder: Folder, checksPages: Bool = false, isReadOnly: Bool = true) -> StoreError? {
        failure {
            var options = LMDBOptions()
            options.checksPages = checksPages
            let store = try Store(.lmdb(file: folder.file("damaged"), options: options).readOnly(isReadOnly), try Notes.schema())
            defer { try? store.backend.close() }
            _ = try store.wholeNotes()
            let request = FetchRequest(
                try store.entity("Note"), sortKeys: [SortKey(try store.field("Note", "size"), ascending: false)])
            _ = try store.ids(request)
            if checksPages { _ = try store.backend.verify() }
        }
    }

    @Test(arguments: [0, 1])
    func everyBitOfTheFirstPagesGivesAnErrorOrARightAnswer(number: Int) throws {
        let folder = try Folder()
        let sound = try sample(folder)
        var wrong: [String] = []
        // Each page refers to the newest state after alternate commits, so testing every bit of one of them is enough. A third of the bits damages each byte.
        for bit in stride(from: number, to: LMDBMeta.size * 8, by: (number + 1) * Ring.size(3, thorough: 1)) {
            var bytes = sound
            bytes[number * Self.page + bit / 8] ^= 1 << (bit % 8)
            try folder.write(bytes, to: "damaged")
            if let error = read(folder), !Self.errors.contains(error.code) { wrong.append("bit \(bit): \(error)") }
        }
        #expect(wrong == [])
    }

    @Test(
        arguments: [
            ("no page size", 40, [0, 0, 0, 0]), ("a page size that is not a power of two", 40, [1, 16, 0, 0]),
            ("a large page size", 40, [0, 0, 1, 0]),
            ("a last page past the file", 136, [0, 0, 0, 0, 0, 1]), ("a root past the last page", 128, [0, 0, 1, 0]),
            ("a deep tree", 94, [33, 0]),
            ("another transaction", 144, [0, 1, 1]),
        ] as [(String, Int, [UInt8])])
    func invalidFirstPagesAreCorrupt(name: String, offset: Int, bytes: [UInt8]) throws {
        let folder = try Folder()
        let sound = try sample(folder)
        var damaged = sound
        for number in 0..<2 {
            damaged.replaceSubrange(number * Self.page + offset..<number * Self.page + offset + bytes.count, with: bytes)
        }
        try folder.write(damaged, to: "damaged")
        for isReadOnly in [true, false] {
            let error = read(folder, isReadOnly: isReadOnly)
            #expect(error?.code == .corrupt, "\(String(describing: error))")
            #expect(error?.location == folder.file("damaged"))
        }
        #expect(try folder.bytes("damaged") == damaged)
    }

    /// Damages random bits of the file: if every page is checked, LMDB never reads a damaged one.
    @Test func checkedPagesNeverCrash() throws {
        let folder = try Folder()
        let sound = try sample(folder)
        var random = Seeded(state: 7)
        var refused = 0
        for round in 0..<600 {
            var bytes = sound
            let number = Int.random(in: 2..<sound.count / Self.page, using: &random)
            // Half of the damage is in page headers and entry tables.
            let offset = Int.random(in: 0..<(round % 2 == 0 ? 64 : Self.page), using: &random)
            bytes[number * Self.page + offset] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            try folder.write(bytes, to: "damaged")
            if let error = read(folder, checksPages: true) {
                #expect(Self.errors.contains(error.code), "page \(number), byte \(offset): \(error)")
                refused += 1
            }
        }
        #expect(refused > 100)
    }

    @Test func verifyingFindsDamagedPagesBeforeLMDBReadsThem() throws {
        let folder = try Folder()
        _ = try sample(folder)
        let store = try notes(folder.file())
        #expect(try store.backend.verify() == [])
        // The last leaf of a tree, damaged while the store is open.
        let pages = try folder.bytes()
        let leaf = try #require((2..<pages.count / Self.page).last { pages[$0 * Self.page + 10] == 0x02 })
        let handle = try #require(FileHandle(forUpdatingAtPath: folder.file()))
        try handle.seek(toOffset: UInt64(leaf * Self.page + 16))
        try handle.write(contentsOf: Data([0xff, 0x7f]))
        try handle.close()
        // A free page can have any contents.
        if try store.backend.verify() == [] { #expect(try store.wholeNotes().count == 94) }
    }

    /// Two values that have the same pages: each alone is whole, so only the count of uses shows the damage.
    @Test func pagesThatAreUsedTwiceAreFound() throws {
        let folder = try Folder()
        let sound = try sample(folder)
        var bytes = sound
        func number<T: FixedWidthInteger>(_ offset: Int, _ type: T.Type) -> T {
            bytes.withUnsafeBytes { T(littleEndian: $0.loadUnaligned(fromByteOffset: offset, as: T.self)) }
        }
        var changed = 0
        for page in 2..<sound.count / Self.page {
            let start = page * Self.page
            // A page within a long value has no header.
            guard number(start, Int.self) == page, number(start + 10, UInt16.self) == 0x02 else { continue }
            // The offsets of the numbers of first pages, in the entries with values that have pages of their own.
            let pointers = (0..<(Int(number(start + 12, UInt16.self)) - LMDBMeta.headerSize) / 2).compactMap { index -> Int? in
                let node = start + Int(number(start + LMDBMeta.headerSize + 2 * index, UInt16.self))
                return number(node + 4, UInt16.self) == 1 ? node + 8 + Int(number(node + 6, UInt16.self)) : nil
            }
            guard let first = pointers.first, pointers.count > 1 else { continue }
            for other in pointers.dropFirst() { bytes.replaceSubrange(other..<other + 8, with: bytes[first..<first + 8]) }
            changed += pointers.count - 1
        }
        try #require(changed > 0)
        try folder.write(bytes, to: "damaged")
        let error = read(folder, checksPages: true)
        #expect(error?.code == .corrupt && error?.message.contains("used elsewhere too") == true, "\(String(describing: error))")
        let store = try notes(folder.file("damaged"))
        #expect(try store.backend.verify().contains { $0.contains("used elsewhere too") })
    }

    /// Keys out of order, scanned backwards: an error, or another order if pages are not checked, but never a crash.
    @Test(arguments: [false, true])
    func swappedPagesOfAnIndexAreFoundByTheCheckAndNeverCrash(checksPages: Bool) throws {
        let folder = try Folder()
        let store = try notes(folder.file())
        // Pairs of equal values, so that a backward scan seeks the start of each pair.
        try store.write { changes in
            for id in Int64(1)...1200 { try changes.insert("Note", id, ["title": .text("note \(id)"), "size": .integer(id / 2)]) }
        }
        try store.backend.close()
        let sound = try folder.bytes()
        let request = FetchRequest(
            try store.entity("Note"), sortKeys: [SortKey(try store.field("Note", "size"), ascending: false)])
        let leaves = (2..<sound.count / Self.page).filter { sound[$0 * Self.page + 10] == 0x02 }
        let right = (Int64(1)...1200).sorted { ($1 / 2, $0) < ($0 / 2, $1) }
        var options = LMDBOptions()
        options.checksPages = checksPages
        var refused = 0
        for (first, second) in zip(leaves, leaves.dropFirst()) {
            var bytes = sound
            let (low, high) = (first * Self.page + 8..<(first + 1) * Self.page, second * Self.page + 8..<(second + 1) * Self.page)
            bytes.replaceSubrange(low, with: sound[high])
            bytes.replaceSubrange(high, with: sound[low])
            try folder.write(bytes, to: "damaged")
            var found: [Int64] = []
            let error = failure {
                let store = try Store(.lmdb(file: folder.file("damaged"), options: options).readOnly(), store.schema)
                defer { try? store.backend.close() }
                found = try store.ids(request)
            }
            if let error {
                #expect(Self.errors.contains(error.code), "page \(first): \(error)")
                refused += 1
            } else if checksPages {
                #expect(found == right, "page \(first)")
            }
        }
        #expect(refused > 0)
    }
}

/// A generator with the same numbers in every run.
private struct Seeded: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
