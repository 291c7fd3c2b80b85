import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreGzip
import TestSupport
import Testing

enum Grade: String, Codable, Sendable, ConvertibleFromSource {
    case low, high
}

struct Extent: Codable, Sendable, Hashable {
    var width: Int
    var height: Double
}

/// An attribute of every kind, a tree, and a relationship to itself.
@Model
final class Parcel {
    @Attribute(.unique) var code: String
    var title: String = ""
    var note: String?
    var amount: Int = 0
    var serial: UInt64 = 0
    var small: Int8 = 0
    var weight: Double = 0
    var ratio: Float = 0
    var price: Decimal = 0
    var isOpen: Bool = false
    var made: Date?
    var token: UUID?
    var blob: Data = Data()
    var link: URL?
    var tags: [String] = []
    var extent: Extent?
    var grade: Grade = .low
    var bonus: Int?
    @Relationship(inverse: "children") var parent: Parcel?
    @Relationship var children: [Parcel]
    @Relationship(inverse: "friends") var friends: Set<Parcel>
}

extension Parcel: ImportableUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<Parcel, String> { \.code }

    static func uniqueID(from source: SourceRecord, in transaction: Transaction) throws -> String? { try source.require("code") }

    func update(from source: SourceRecord, in transaction: Transaction) throws {
        title = try source.require("title")
        note = try source.optional("note")
        amount = try source.require("amount")
        serial = try source.require("serial")
        small = try source.require("small")
        weight = try source.require("weight")
        ratio = try source.require("ratio")
        price = try source.require("price")
        isOpen = try source.require("isOpen")
        made = try source.optional("made")
        token = try source.optional("token")
        blob = try source.require("blob")
        link = try source.optional("link")
        tags = try source.require("tags")
        extent = try (source["extent"] ?? .null).decode()
        grade = try source.require("grade")
        bonus = try source.optional("bonus")
        try transaction.reference(Into<Parcel>(), uniqueID: source.optional("parent")).assign(to: \.parent, on: self)
        try transaction.references(Into<Parcel>(), uniqueIDs: source.require("children", as: [String].self)).assign(
            to: \.children, on: self)
        try transaction.references(Into<Parcel>(), uniqueIDs: source.require("friends", as: [String].self)).assign(to: \.friends, on: self)
    }
}

/// Has no unique attribute.
@Model
final class Marker {
    var text: String = ""
    @Relationship var parcel: Parcel?
    @Relationship var other: Marker?
}

@Suite struct ExportTests {
    private static func stack(_ backend: Backend, _ folder: Folder, _ name: String) throws -> DataStack {
        let stack = try DataStack(Schema("Parcels 1", Parcel.self, Marker.self), logger: RecordingLogger())
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(backend.store(in: folder, name))
        return stack
    }

    /// Creates parcels with values at the limits of their types.
    private static func fill(_ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            let texts = ["", "plain", "with \"quotes\", commas", "two\r\nlines", " spaces ", "emoji 👩‍👩‍👧 \u{0}\u{7f}", "null", "[1, 2]"]
            var parcels: [Parcel] = []
            for (number, text) in texts.enumerated() {
                let parcel = try transaction.create(Into<Parcel>())
                parcel.code = "c\(number)"
                parcel.title = text
                parcel.note = number % 2 == 0 ? text : nil
                parcel.amount = [0, .max, .min, -1, 9_007_199_254_740_993, 7, 8, 9][number]
                parcel.serial = number == 1 ? .max : UInt64(number)
                parcel.small = number == 2 ? .min : .max
                parcel.weight = [0, -0.0, 0.1, .pi, 1e300, .leastNonzeroMagnitude, -.infinity, .nan][number]
                parcel.ratio = [0, 0.1, .pi, 3e38, .leastNonzeroMagnitude, -1, .infinity, 16_777_216][number]
                parcel.price =
                    [
                        0, Decimal(string: "0.1")!, Decimal(string: "12345678901234567890.123456789")!, -1, Decimal(string: "1e-100")!,
                        Decimal(string: "-99999999999999999999999999999999999999")!, 5, 6,
                    ][number]
                parcel.isOpen = number % 3 == 0
                parcel.made = number == 0 ? nil : Date(timeIntervalSinceReferenceDate: Double(number) * 123_456_789.123456 - 5e8)
                parcel.token = number == 0 ? nil : UUID()
                parcel.blob = Data((0..<number * 50).map { UInt8(truncatingIfNeeded: $0 * 7) })
                parcel.link = number == 3 ? URL(string: "https://example.com/a?b=c&d=%20") : nil
                parcel.tags = number == 0 ? [] : (0..<number).map { "tag,\"\($0)\"" }
                parcel.extent = number % 2 == 1 ? Extent(width: number, height: 0.1 * Double(number)) : nil
                parcel.grade = number % 2 == 0 ? .low : .high
                parcel.bonus = number == 4 ? nil : -number
                parcels.append(parcel)
            }
            // A tree whose order differs from that of the codes, with a forward reference and a self-reference.
            parcels[0].children = [parcels[5], parcels[2], parcels[7]]
            parcels[5].children = [parcels[1]]
            parcels[6].parent = parcels[6]
            parcels[3].friends = [parcels[4], parcels[7], parcels[3]]
            parcels[0].friends = [parcels[7]]
        }
    }

    private static func text(_ stack: DataStack, _ folder: Folder, _ name: String) throws -> String {
        let path = folder.path + "/" + name
        let report = try stack.exportAndWait(From<Parcel>().orderBy(.ascending(\.code)), to: .file(path: path))
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(report.objects == 8)
        #expect(report.bytes == Int64(text.utf8.count))
        return text
    }

    @Test(arguments: Backend.forObjectLayer, ["parcels.jsonl", "parcels.json", "parcels.csv"])
    func importOfAnExportGivesEqualObjects(_ backend: Backend, _ name: String) async throws {
        let folder = try Folder()
        let first = try Self.stack(backend, folder, "first")
        try Self.fill(first)
        let text = try Self.text(first, folder, name)
        let second = try Self.stack(backend, folder, "second")
        let report = try await second.importRecords(Into<Parcel>(), from: .file(path: folder.path + "/" + name))
        #expect((report.inserted, report.excluded) == (8, 0))
        #expect(try Self.text(second, folder, "again-" + name) == text)
        let describe: @Sendable (SnapshotContext) throws -> [String] = { context in
            try context.fetchAll(From<Parcel>().orderBy(.ascending(\.code))).map { parcel in
                let links = [
                    parcel.parent?.code ?? "-", parcel.children.map(\.code).description, parcel.friends.map(\.code).sorted().description,
                ]
                let values: [Any?] = [
                    parcel.title, parcel.note, parcel.amount, parcel.serial, parcel.small, parcel.weight, parcel.ratio, parcel.price,
                    parcel.isOpen,
                    parcel.made?.timeIntervalSinceReferenceDate, parcel.token, parcel.blob.base64EncodedString(), parcel.link, parcel.tags,
                    parcel.extent, parcel.grade, parcel.bonus,
                ]
                return "\(parcel.code) \(links) \(values)"
            }
        }
        #expect(try await first.read(describe) == second.read(describe))
    }

    @Test(arguments: Backend.forObjectLayer)
    func fieldsAreChosenAndRenamed(_ backend: Backend) async throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder, "test")
        try Self.fill(stack)
        let path = folder.path + "/some.csv"
        let options = ExportOptions<Parcel>(fields: [\.code, \.parent, \.children], names: ["parent": "whole"])
        let report = try await stack.export(
            From<Parcel>().where(\.code < "c3").orderBy(.descending(\.code)), to: .file(path: path), options: options)
        #expect(report.objects == 3)
        #expect(
            try String(contentsOfFile: path, encoding: .utf8)
                == "code,whole,children\r\nc2,c0,[]\r\nc1,c5,[]\r\nc0,,\"[\"\"c5\"\",\"\"c2\"\",\"\"c7\"\"]\"\r\n")
    }

    @Test(arguments: Backend.allCases)
    func manyObjectsAreWrittenInBatchesFromOneSnapshot(_ backend: Backend) async throws {
        let folder = try Folder()
        let towns = try Towns(backend)
        let sources = (1...1203).map { TownSource($0, region: $0 > 1 ? "t\($0 / 2)" : nil) }
        try await towns.stack.importRecords(Into<Town>(), from: sources)
        let path = folder.path + "/towns.jsonl"
        let run = towns.stack.startExport(From<Town>().orderBy(.ascending(\.population)), to: .file(path: path))
        var last: ExportProgress?
        for await progress in run.updates { last = progress }
        #expect((last?.objects, last?.totalObjects, last?.fractionCompleted, last?.isFinished) == (1203, 1203, 1, true))
        #expect(run.progress.localizedDescription == "Exporting Town to towns.jsonl")
        #expect(try await run.value.objects == 1203)
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 1203)
        #expect(lines.first == "{\"code\":\"t1\",\"name\":\"Town 1\",\"population\":1,\"region\":null}")
        #expect(lines.last == "{\"code\":\"t1203\",\"name\":\"Town 1203\",\"population\":1203,\"region\":\"t601\"}")
    }

    /// An export has its own snapshot: it writes what is committed, and neither it nor the running iteration affects the other.
    @Test(arguments: Backend.allCases)
    func anExportBetweenTheBatchesOfATransaction(_ backend: Backend) async throws {
        let folder = try Folder()
        let towns = try Towns(backend)
        try await towns.stack.importRecords(Into<Town>(), from: (1...9).map { TownSource($0) })
        let (stack, path) = (towns.stack, folder.path + "/towns")
        let texts = try stack.performBatchAndWait { batch in
            var texts: [String] = []
            try batch.fetchInBatches(From<Town>().orderBy(.ascending(\.population)), size: 3) { found in
                for town in found { town.population += 1000 }
                for name in ["before", "after"] {
                    let file = "\(path)-\(texts.count)-\(name).csv"
                    let options = ExportOptions<Town>(fields: [\.population])
                    try stack.exportAndWait(From<Town>().orderBy(.ascending(\.code)), to: .file(path: file), options: options)
                    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\r\n")
                    texts.append(lines.dropFirst().joined(separator: " "))
                    try batch.commit()
                }
            }
            return texts
        }
        #expect(
            texts == [
                "1 2 3 4 5 6 7 8 9", "1001 1002 1003 4 5 6 7 8 9", "1001 1002 1003 4 5 6 7 8 9", "1001 1002 1003 1004 1005 1006 7 8 9",
                "1001 1002 1003 1004 1005 1006 7 8 9", "1001 1002 1003 1004 1005 1006 1007 1008 1009",
            ])
    }

    @Test func attributesThatCannotBeExportedAreNamed() async throws {
        let folder = try Folder()
        let stack = try Self.stack(.memory, folder, "test")
        let file = ExportDestination.file(path: folder.path + "/x.jsonl")
        func message(_ body: () async throws -> Void) async -> String {
            let error = await #expect(throws: StoreError.self) { try await body() }
            #expect(error?.code == .misuse)
            return error?.message ?? ""
        }
        #expect(await message { try await stack.export(From<Marker>(), to: file) }.contains("Marker.other cannot be exported"))
        #expect(
            await message { try await stack.export(From<Parcel>(), to: file, options: ExportOptions(names: ["titel": "x"])) }.contains(
                "\"titel\""))
        #expect(
            await message { try await stack.export(From<Parcel>(), to: file, options: ExportOptions(names: ["title": "code"])) }
                .contains("under the name \"code\""))
        #expect(await message { try await stack.export(From<Parcel>(), to: .file(path: folder.path + "/x.dat")) }.contains("format"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("x.") }.isEmpty)
        let labels = try await stack.export(From<Marker>(), to: file, options: ExportOptions(fields: [\.text, \.parcel]))
        #expect(labels.objects == 0)
    }

    @Test(arguments: ["y.csv.gz", "y.jsonl.GZ", "y.gz"]) func plainBytesAreNotWrittenUnderTheNameOfAGzipFile(_ name: String) async throws {
        let folder = try Folder()
        let stack = try Self.stack(.memory, folder, "test")
        try Self.fill(stack)
        let path = folder.path + "/" + name
        for destination in [ExportDestination.file(path: path, format: .csv), .file(URL(fileURLWithPath: path), format: .jsonLines)] {
            let error = await #expect(throws: StoreError.self) { try await stack.export(From<Parcel>(), to: destination) }
            #expect(error?.code == .unsupported)
            #expect(error?.message.contains("ExportDestination.gzip") == true)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("y.") }.isEmpty)
    }

    @Test func compressedExportIsImportedAgain() async throws {
        let folder = try Folder()
        let stack = try Self.stack(.memory, folder, "from")
        try Self.fill(stack)
        let path = folder.path + "/parcels.csv.gz"
        let exported = try await stack.export(From<Parcel>().orderBy(.ascending(\.code)), to: .gzip(path: path))
        let bytes = try #require(FileManager.default.contents(atPath: path))
        #expect(bytes.prefix(2) == Data([0x1f, 0x8b]))
        #expect(exported.objects > 0)
        let other = try Self.stack(.memory, folder, "to")
        let imported = try await other.importRecords(Into<Parcel>(), from: .gzip(path: path))
        #expect(imported.inserted == exported.objects)
        #expect(try await other.read { try $0.fetchCount(From<Parcel>()) } == exported.objects)
        let error = await #expect(throws: StoreError.self) { try await stack.export(From<Parcel>(), to: .gzip(path: path, level: 10)) }
        #expect(error?.code == .unsupported)
        #expect(FileManager.default.contents(atPath: path) == bytes)
    }

    @Test func cancelledExportLeavesNoFile() async throws {
        let folder = try Folder()
        let stack = try Self.stack(.sqlite, folder, "test")
        try Self.fill(stack)
        let path = folder.path + "/x.jsonl"
        let run = Protected<ExportRun?>(nil)
        // Opening the destination precedes the first batch: the export is cancelled there.
        let destination = ExportDestination(name: "x.jsonl", format: .jsonLines) {
            run.wait(until: { $0 != nil }, { $0 })?.cancel()
            return try FileByteSink(path: path)
        }
        let started = stack.startExport(From<Parcel>(), to: destination)
        run.signal { $0 = started }
        let error = await #expect(throws: StoreError.self) { try await started.value }
        #expect(error?.code == .cancelled)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("x.") }.isEmpty)
    }
}
