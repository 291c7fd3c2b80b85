import EngineTestSupport
import PolyStoreBackend
import SeededRandom
import Testing

@testable import PolyStoreKeyValue

/// Any bytes give a value or `corrupt`.
@Suite struct DecoderTests {
    @Test func anyBytesAsAKey() {
        var random = SplitMix64(seed: 3)
        let tags: [UInt8] = [0x05, 0x10, 0x11, 0x14, 0x15, 0x18, 0x1a, 0x20, 0x22, 0x26, 0x28, 0x2c, 0x30]
        for round in 0..<60_000 {
            var bytes = random.bytes(random.below(40))
            // Most of the bytes begin with the tag of a key.
            if !bytes.isEmpty, round % 4 > 0 { bytes[0] = tags[random.below(tags.count)] ^ (round % 2 == 0 ? 0xff : 0) }
            if round % 3 == 0 { bytes = bytes.map { $0 < 200 ? $0 & 1 : $0 } }
            bytes.withUnsafeBytes { raw in
                var reader = KeyReader(raw)
                while !reader.isAtEnd {
                    let before = reader.position
                    do {
                        _ = try reader.readComponent(descending: round % 2 == 0)
                        #expect(reader.position > before)
                    } catch let error as StoreError {
                        #expect(error.code == .corrupt)
                        break
                    } catch {
                        Issue.record("\(error)")
                        break
                    }
                }
            }
        }
    }

    @Test func anyBytesAsARecord() throws {
        var random = SplitMix64(seed: 4)
        let opened = try Opened(TestEngine(maximumPieceSize: 64))
        let person = try opened.store.entity("Person")
        for id in Int64(1)...8 {
            try opened.store.write { changes in
                var values = Company.person(id)
                if id % 2 == 0 { values["photo"] = .blob(Notes.body(id, size: 300)) }
                try changes.insert("Person", id, values)
            }
        }
        let snapshot = opened.engine.snapshot()
        let decoder = StoredRecordDecoder(opened.layout)
        var survived = 0
        for round in 0..<30_000 {
            let id = Int64(round % 8 + 1)
            let key = try opened.record("Person", id)
            var bytes = round % 10 == 0 ? random.bytes(random.below(200)) : try #require(opened.engine[key])
            switch round % 4 {
            case 0: bytes = [UInt8](bytes.prefix(random.below(bytes.count + 1)))
            case 1: bytes += random.bytes(random.below(40))
            default: for _ in 0...random.below(3) where !bytes.isEmpty { bytes[random.below(bytes.count)] ^= UInt8(1 + random.below(255)) }
            }
            // Every other input has a valid checksum, so that the rest is decoded.
            if round % 2 == 0 {
                let head = person.layout.minimumSize
                bytes.withUnsafeMutableBytes { bytes in key.withUnsafeBytes { RecordChecksum.seal(bytes, head: head, key: $0) } }
            }
            try bytes.withUnsafeBytes { stored in
                _ = StoredRecord.chunked(stored, person.fields.map(\.type))
                do {
                    let record = try key.withUnsafeBytes { try decoder.decode(stored, person, id, key: $0, snapshot) }
                    for field in person.fields { _ = record.value(field) }
                    survived += 1
                } catch let error as StoreError { #expect(error.code == .corrupt) }
            }
        }
        // Some inputs with a valid checksum are records.
        #expect(survived > 100)
    }

    @Test func anyBytesAsAPiece() {
        var random = SplitMix64(seed: 5)
        let traits = EngineTraits(features: [])
        let arena = RecordArena()
        for _ in 0..<5_000 {
            let (key, bytes) = (random.bytes(21), random.bytes(random.below(30)))
            key.withUnsafeBytes { key in
                bytes.withUnsafeBytes { #expect(Chunk.open($0, key, traits) == nil || $0.count == 4) }
                arena.removeAll()
                let count = bytes.withUnsafeBytes { Chunk.seal($0, key, traits, into: arena) }
                #expect(count == bytes.count + 4)
                let opened = Chunk.open(arena.bytes(0, count), key, traits)
                #expect(opened.map { [UInt8]($0) } == bytes)
                let flipped = UnsafeMutableRawBufferPointer(mutating: arena.bytes(0, count))
                flipped[random.below(count)] ^= 4
                #expect(Chunk.open(UnsafeRawBufferPointer(flipped), key, traits) == nil)
            }
        }
    }

    @Test func anyBytesAsAnIndexStateOrAnIdentity() throws {
        var random = SplitMix64(seed: 6)
        for _ in 0..<5_000 {
            let bytes = random.bytes(random.below(40))
            if let state = bytes.withUnsafeBytes({ IndexState($0) }) { #expect(state.bytes.count >= 7) }
            _ = KeyValueStoreIdentity(bytes)
        }
        for configuration in [nil, "", "a\"b\0", "Ünïcode"] {
            let identity = KeyValueStoreIdentity(
                storeID: "00ff0123456789abcdef00ff01234567", configuration: configuration, schemaHash: "89abcdef00ff0123")
            #expect(KeyValueStoreIdentity(identity.bytes) == identity)
        }
    }
}
