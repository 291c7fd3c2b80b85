import Foundation
import PolyStore
import Testing

/// Errors are readable when they are printed, and in the alert of an application, which shows `localizedDescription`.
@Suite struct ErrorTextTests {
    @Test func violationIsPrintedAsItsMessage() {
        let violation = Violation(
            entity: "Town", attribute: "name", rowID: 7, rule: .length, message: "Town.name of object 7 is too long")
        #expect("\(violation)" == "Town.name of object 7 is too long")
    }

    @Test func validationErrorNamesItsFailures() {
        let error = ValidationError([ValidationError("is after the end", attribute: "start"), ValidationError("is incomplete")])
        #expect(error.failures.map(\.attribute) == ["start", nil])
        #expect(error.failures.map(\.message) == ["is after the end", "is incomplete"])
        #expect("\(error)" == "start is after the end; The object is incomplete")
        #expect((error as any Error).localizedDescription == "start is after the end; The object is incomplete")
    }

    @Test func errorsOfRecordsHaveALocalizedDescription() async throws {
        let reader = try RecordSource.text("{\"a\": 1}\n{\"a\" 2}\n", format: .jsonLines, name: "a.jsonl").makeReader()
        let error = #expect(throws: RecordError.self) { while try reader.next() != nil {} }
        let text = try #require(error?.description)
        #expect(text.contains("a.jsonl"))
        #expect((error as (any Error)?)?.localizedDescription == text)

        let towns = try Towns(.memory)
        let options = ImportOptions(onInvalidRecord: .exclude())
        let sources = [TownSource(1), TownSource(2, name: "refused")]
        let report = try await towns.stack.importRecords(Into<Town>(), from: sources, options: options)
        let problem = try #require(report.problems.first)
        #expect((problem as any Error).localizedDescription == problem.description)
        #expect(problem.description.hasPrefix("Record 2: "))
    }
}
