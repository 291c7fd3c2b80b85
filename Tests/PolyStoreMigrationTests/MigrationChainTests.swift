import PolyStore
import PolyStoreBackend
import Testing

struct MigrationChainTests {
    @Test("nil, [] and [:] are empty chains")
    func empty() {
        let chains: [MigrationChain] = [nil, [], [:]]
        for chain in chains {
            #expect(chain.isEmpty)
            #expect(chain.leafVersion == nil)
        }
    }

    @Test("an array leads from each version to the next")
    func array() {
        let chain: MigrationChain = ["V1", "V2", "V3"]
        #expect(chain.rootVersions == ["V1"])
        #expect(chain.leafVersion == "V3")
        #expect(chain.version(after: "V1") == "V2")
        #expect(chain.version(after: "V3") == nil)
        #expect(chain.contains("V2") && !chain.contains("V4"))
    }

    @Test("a dictionary is a tree with one last version")
    func tree() {
        let chain: MigrationChain = ["V1": "V3", "V2": "V4", "V3": "V4"]
        #expect(Set(chain.rootVersions) == ["V1", "V2"])
        #expect(chain.leafVersion == "V4")
    }

    @Test("chains with the same versions and steps are equal, however they are written; a chain of one version is not empty")
    func equality() {
        let written: [MigrationChain] = [
            ["V1", "V2", "V3"], ["V1": "V2", "V2": "V3"], ["V2": "V3", "V1": "V2"], MigrationChain([("V2", "V3"), ("V1", "V2")]),
        ]
        for chain in written {
            #expect(chain == written[0])
            #expect(chain.hashValue == written[0].hashValue)
            #expect(MigrationPolicy.chain(chain) == .chain(written[0]))
        }
        let others: [MigrationChain] = [["V1", "V2"], ["V1", "V3"], ["V3", "V2", "V1"], ["V1": "V3", "V2": "V3"], ["V1"], []]
        for chain in others { #expect(chain != written[0]) }
        #expect(Set(written + others).count == 1 + others.count)
        let single: MigrationChain = "V1"
        #expect(single == ["V1"] && !single.isEmpty && single.leafVersion == "V1" && single.rootVersions == ["V1"])
    }

    private static let unusable: [(MigrationChain, String)] = [
        (["V1", "V2", "V1"], "\"V1\" occurs twice"),
        (MigrationChain([("V1", "V2"), ("V1", "V3")]), "followed by both \"V2\" and \"V3\""),
        (["V1": "V2", "V2": "V1"], "\"V1\", \"V2\" form a loop"),
        (["V1": "V1"], "\"V1\" form a loop"),
        (["V1": "V2", "V3": "V4"], "several versions, \"V2\" and \"V4\""),
    ]

    @Test("duplicates, loops and several last versions are reported with the versions", arguments: unusable)
    func problems(_ chain: MigrationChain, _ message: String) throws {
        let error = #expect(throws: StoreError.self) { try DataStack(SchemaHistory(currentSchema, migrationChain: chain)) }
        #expect(error?.code == .invalidSchema)
        #expect(error?.message.contains(message) ?? false, "\(error?.message ?? "")")
    }

    @Test("the last version of the chain is the current one and has classes")
    func current() throws {
        let old = LockedSchema("Old", entities: [])
        let stack = try DataStack(SchemaHistory(currentSchema, old, migrationChain: ["Old", "Current"]))
        #expect(stack.schema.name == "Current")
        func refuses(_ history: SchemaHistory, _ message: String) {
            let error = #expect(throws: StoreError.self) { try DataStack(history) }
            #expect(error?.message.contains(message) ?? false, "\(error?.message ?? "")")
        }
        refuses(SchemaHistory(currentSchema, old), "\"Old\" has no classes")
        refuses(SchemaHistory(currentSchema, migrationChain: ["Current", "Next"]), "\"Next\", which is not among the versions")
        refuses(SchemaHistory(currentSchema, currentSchema), "two versions have the name \"Current\"")
        refuses(
            SchemaHistory(currentSchema, mappings: [SchemaMapping(from: "A", to: "Current"), SchemaMapping(from: "A", to: "Current")]),
            "two mappings lead from \"A\" to \"Current\"")
        refuses(SchemaHistory([]), "it has no version")
    }

    @Test("a locked schema is printed as Swift source")
    func locked() {
        let locked = Schema("Badges", Badge.self, Member.self, Club.self).locked
        let text = "\(locked)"
        #expect(text.hasPrefix("LockedSchema(\"Badges\", entities: [\n    EntityDescription(name: \"Badge\", properties: ["))
        #expect(
            text.contains(".attribute(AttributeDescription(name: \"code\", type: .string, isUnique: true, defaultValue: .text(\"\"))),"))
        #expect(
            text.contains(
                ".relationship(RelationshipDescription(name: \"club\", originalName: \"society\", destination: \"Club\", isToMany: false, inverse: \"members\")),"
            ))
        #expect(text.hasSuffix("])"))
        #expect(locked == Schema("Badges", Badge.self, Member.self, Club.self).locked)
    }
}
