import Foundation
import PolyStore
import PolyStoreSQLite
import TestSupport
import Testing

/// Reports are written to the logs of servers, and values are compared and printed in tests of applications.
@Suite struct ConformanceTests {
    private func decoded<T: Codable>(_ value: T) throws -> T { try JSONDecoder().decode(T.self, from: JSONEncoder().encode(value)) }

    @Test func reportsAreCodable() async throws {
        let towns = try Towns(.sqlite)
        let report = try await towns.stack.importRecords(
            Into<Town>(), from: [TownSource(1), TownSource(2, name: "refused")],
            options: ImportOptions(onInvalidRecord: .exclude(), isDryRun: true))
        #expect(report.problems.count == 1 && report.insertedExamples.count == 1)
        #expect(try decoded(report) == report)
        let folder = try Folder()
        let exported = try await towns.stack.export(From<Town>(), to: .file(path: folder.path + "/towns.csv"))
        #expect(try decoded(exported) == exported)
        let violation = Violation(entity: "Town", attribute: nil, rowID: 7, rule: .custom, message: "Town 7 is refused")
        #expect(try decoded(violation) == violation)
        let conflict = ObjectConflict(entity: "Town", rowID: 7, kind: .changed(keys: ["name"]))
        #expect(try decoded(conflict) == conflict)
    }

    @Test func storesAreComparedByIdentity() throws {
        let towns = try Towns(.memory)
        let other = try Towns(.memory).stack.stores[0]
        let store = towns.stack.stores[0]
        #expect(towns.stack.stores.contains(store))
        #expect(!towns.stack.stores.contains(other))
    }

    @Test func valuesArePrintedAsTheyAreWritten() throws {
        #expect("\(MergePolicy.attributesMineWins), \(MergePolicy.error)" == "attributesMineWins, error")
        #expect("\(try StoreURL("sqlite:company.sqlite?readOnly=true"))" == "sqlite:company.sqlite?readOnly=true")
        #expect("\(StoreConfiguration.sqlite(file: "/stores/a.sqlite"))" == "sqlite:/stores/a.sqlite")
        #expect(HistoryFilter.all.author("sync") == HistoryFilter.all.author("sync"))
        #expect(HistoryFilter.all.author("sync") != HistoryFilter.all.author(nil))
        #expect(MigrationPolicy.chain(["A", "B"]) == .chain(["A", "B"]))
        #expect(MigrationPolicy.chain != .lightweight)
        #expect(ConversionOptions() == .default)
    }

    @Test func idsOfAnyEntityArePrintedByEntity() async throws {
        let towns = try Towns(.memory)
        let id = try await towns.stack.perform { transaction in
            try transaction.importUniqueObject(Into<Town>(), from: TownSource(1))?.objectID
        }
        let untyped = try #require(id?.untyped)
        #expect("\(untyped)" == "\(try #require(id))")
    }
}
