import PolyStoreBackend
import PolyStoreCore
import TestModels
import TestSupport
import Testing

/// Models whose schema is locked.
@Suite struct VersionLockTests {
    private func refusal(_ schema: Schema) -> StoreError? { expectError(.invalidSchema) { try DataStack(schema) } }

    @Test func theModelOfTheLockPasses() throws {
        let lock = companySchema.versionLock
        _ = try DataStack(Schema("Company 1", Person.self, Department.self, Project.self, versionLock: lock))
        // The order, the name and the configurations do not affect the lock.
        let reordered = Schema(
            "other", [Project.self, Department.self, Person.self], configurations: ["all": [Person.self, Department.self, Project.self]],
            versionLock: lock)
        _ = try DataStack(reordered)
        let whole = VersionLock(versionHash: companySchema.versionHash)
        _ = try DataStack(Schema("Company 1", Person.self, Department.self, Project.self, versionLock: whole))
    }

    /// The printed description can be pasted as source code.
    @Test func theDescriptionIsTheLiteral() throws {
        let schema = Schema("Tags", MusicTag.self, Playlist.self, Track.self)
        let text = schema.versionLock.description
        let lines = text.split(separator: "\n")
        #expect(lines.first == "[" && lines.last == "]" && lines.count == 5)
        var entities: [String: String] = [:]
        for line in lines.dropFirst().dropLast() {
            let parts = line.split(separator: "\"")
            #expect(parts.count == 5 && parts[3].count == 16, "\(line)")
            entities[String(parts[1])] = String(parts[3])
        }
        #expect(VersionLock(entities) == schema.versionLock)
        #expect(entities.keys.sorted() == ["Playlist", "Tag", "Track"])
    }

    @Test func differencesAreNamedWithARemedy() throws {
        let now = companySchema.versionLock
        let printed = now.description
        let person = try #require(printed.split(separator: "\"").drop { $0 != "Person" }.dropFirst(2).first)
        let lock: VersionLock = ["Person": "0123456789abcdef", "Project": "fedcba9876543210", "Visit": "0000000000000000"]
        let error = refusal(Schema("Company 1", Person.self, Department.self, Project.self, versionLock: lock))
        let message = try #require(error?.message)
        #expect(
            message.contains(
                "\"Company 1\" is not what its version lock says: Dept is new, Person was changed, Project was changed, Visit is gone."))
        #expect(message.contains("make a new version with a name and a lock of its own"))
        #expect(message.hasSuffix("replace the lock by \(printed)"))
        #expect(message.contains(person))
    }

    @Test func aFingerprintOfTheWholeSchemaIsCompared() throws {
        let lock: VersionLock = "0123456789abcdef"
        let error = refusal(Schema("Company 1", Person.self, Department.self, Project.self, versionLock: lock))
        let hash = companySchema.versionHash
        #expect(error?.message.contains("its fingerprint is \(hash) and not 0123456789abcdef") == true)
        #expect(error?.message.hasSuffix("replace the lock by \"\(hash)\"") == true)
    }

    @Test func partsKeepTheirLocks() throws {
        let music = Schema("Music", Playlist.self, Track.self, MusicTag.self)
        let locked = Schema("Music", Playlist.self, Track.self, MusicTag.self, versionLock: music.versionLock)
        _ = try DataStack(Schema("All", merging: [companySchema, locked]))
        let wrong = Schema("Music", Playlist.self, Track.self, MusicTag.self, versionLock: "0123456789abcdef")
        #expect(refusal(Schema("All", merging: [companySchema, wrong]))?.message.contains("\"Music\"") == true)
        #expect(
            refusal(Schema("All", merging: [companySchema, locked], versionLock: music.versionLock))?.message.contains("Person is new")
                == true)
    }

    /// A lock reports each change that makes a store incompatible, by entity.
    @Test func eachEntityHasAFingerprintOfItsOwn() {
        let (company, music) = (
            companySchema, Schema("x", Person.self, Department.self, Project.self, MusicTag.self, Playlist.self, Track.self)
        )
        let lines = company.versionLock.description.split(separator: "\n").dropFirst().dropLast()
        for line in lines { #expect(music.versionLock.description.contains(line)) }
    }
}
