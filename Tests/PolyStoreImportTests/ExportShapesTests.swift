import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Imported and exported by subclass; every object has the unique id of the root.
@Model(isAbstract: true, subentities: "Pamphlet", "Chart")
class Publication {
    @Attribute(.unique) var mark: String
    var title: String = ""
    @Relationship(inverse: "publications") var shelf: Shelf?
    @Relationship var cites: Set<Publication>

    /// Reads the properties of the class.
    func read(_ source: SourceRecord, _ transaction: Transaction) throws {
        title = try source.require("title")
        try transaction.reference(Into<Shelf>(), uniqueID: source.optional("shelf")).assign(to: \.shelf, on: self)
    }
}

@Model(subentities: "Leaflet")
class Pamphlet: Publication {
    var pages: Int = 0

    override func read(_ source: SourceRecord, _ transaction: Transaction) throws {
        try super.read(source, transaction)
        pages = try source.require("pages")
    }
}

@Model
final class Leaflet: Pamphlet {
    @Attribute(name: "paper") var colour: String?
    @Relationship(inverse: "inserts") var inside: Chart?

    override func read(_ source: SourceRecord, _ transaction: Transaction) throws {
        try super.read(source, transaction)
        colour = try source.optional("paper")
        try transaction.reference(Into<Chart>(), uniqueID: source.optional("inside")).assign(to: \.inside, on: self)
    }
}

@Model
final class Chart: Publication {
    var scale: Double = 1
    @Relationship var inserts: [Leaflet]

    override func read(_ source: SourceRecord, _ transaction: Transaction) throws {
        try super.read(source, transaction)
        scale = try source.require("scale")
    }
}

extension Publication: ImportableUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<Publication, String> { \.mark }
    static func uniqueID(from source: SourceRecord, in transaction: Transaction) throws -> String? { try source.require("mark") }
    func update(from source: SourceRecord, in transaction: Transaction) throws { try read(source, transaction) }
}

@Model
final class Shelf {
    @Attribute(.unique) var name: String
    @Relationship var publications: Set<Publication>
    @Relationship var newest: Publication?
    @Relationship var display: [Publication]
}

extension Shelf: MappedUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<Shelf, String> { \.name }
    static let importMapping: RecordMapping<Shelf> = RecordMapping(uniqueID: "name").relationship(\.newest).relationship(\.display)
}

/// Has a unique id of two attributes, and relationships to such objects.
@Model
final class Cell {
    #Unique<Cell>(\.row, \.column)
    var row: String = ""
    var column: Int = 0
    var text: String?
    @Relationship(inverse: "before") var next: Cell?
    @Relationship var before: Set<Cell>
    @Relationship(inverse: "cells") var sheet: Sheet?
}

@Model
final class Sheet {
    @Attribute(.unique) var name: String
    @Relationship var corner: Cell?
    @Relationship var cells: Set<Cell>
    @Relationship var path: [Cell]
}

extension Cell: MappedUniqueObject {
    static var uniqueIDKeyPath: CompoundUniqueID<Cell, String, Int> { .init(\.row, \.column) }

    static func uniqueID(from source: SourceRecord, in transaction: Transaction) throws -> UniqueIDValues<String, Int>? {
        try UniqueIDValues(source.require("row"), source.require("column"))
    }

    static let importMapping: RecordMapping<Cell> = RecordMapping().attribute(\.text).relationship(\.next)
}

extension Sheet: MappedUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<Sheet, String> { \.name }

    static let importMapping: RecordMapping<Sheet> = RecordMapping(uniqueID: "name")
        .relationship(\.corner)
        .relationship(\.cells)
        .relationship(\.path)
}

/// Exports of hierarchies, and of relationships to objects whose unique id has several attributes.
@Suite struct ExportShapesTests {
    private static func stack(_ backend: Backend, _ folder: Folder, _ name: String) throws -> DataStack {
        let stack = try DataStack(Schema("Shapes 1", Publication.self, Shelf.self, Cell.self, Sheet.self), logger: RecordingLogger())
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(backend.store(in: folder, name))
        return stack
    }

    private static func fillShelves(_ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            let shelf = try transaction.create(Into<Shelf>())
            shelf.name = "s1"
            let pamphlet = try transaction.create(Into<Pamphlet>())
            (pamphlet.mark, pamphlet.title, pamphlet.pages, pamphlet.shelf) = ("p", "Plain", 3, shelf)
            let chart = try transaction.create(Into<Chart>())
            (chart.mark, chart.title, chart.scale, chart.shelf) = ("c", "Coast", 0.5, shelf)
            for (mark, colour) in [("l1", nil), ("l2", "red")] {
                let leaflet = try transaction.create(Into<Leaflet>())
                (leaflet.mark, leaflet.title, leaflet.pages) = (mark, "Leaf, \"\(mark)\"", 1)
                (leaflet.colour, leaflet.inside) = (colour, chart)
                pamphlet.cites.insert(leaflet)
            }
            shelf.newest = chart
            shelf.display = [chart, pamphlet] + chart.inserts
        }
    }

    private static func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

    @Test(arguments: Backend.forObjectLayer)
    func exportOfASubclassHasTheInheritedProperties(_ backend: Backend) async throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder, "first")
        try Self.fillShelves(stack)
        let path = folder.path + "/x.jsonl"
        try await stack.export(From<Leaflet>().orderBy(.ascending(\.mark)), to: .file(path: path))
        #expect(
            try Self.text(path) == """
                {"mark":"l1","title":"Leaf, \\"l1\\"","pages":1,"paper":null,"shelf":null,"cites":[],"inside":"c"}
                {"mark":"l2","title":"Leaf, \\"l2\\"","pages":1,"paper":"red","shelf":null,"cites":[],"inside":"c"}

                """)
        let chosen = ExportOptions<Leaflet>(fields: [\.title, \.colour, \.inside], names: ["paper": "colour"])
        try await stack.export(From<Leaflet>().where(\.mark == "l2"), to: .file(path: path), options: chosen)
        #expect(try Self.text(path) == "{\"title\":\"Leaf, \\\"l2\\\"\",\"colour\":\"red\",\"inside\":\"c\"}\n")
    }

    /// An export of a superclass has the objects of all its subclasses, with the properties of the superclass.
    @Test(arguments: Backend.forObjectLayer)
    func exportOfASuperclassHasTheSharedProperties(_ backend: Backend) async throws {
        let folder = try Folder()
        let stack = try Self.stack(backend, folder, "first")
        try Self.fillShelves(stack)
        let path = folder.path + "/x.csv"
        let report = try await stack.export(From<Publication>().orderBy(.ascending(\.mark)), to: .file(path: path))
        #expect(report.objects == 4)
        #expect(
            try Self.text(path)
                == "mark,title,shelf,cites\r\nc,Coast,s1,[]\r\nl1,\"Leaf, \"\"l1\"\"\",,[]\r\nl2,\"Leaf, \"\"l2\"\"\",,[]\r\n"
                + "p,Plain,s1,\"[\"\"l1\"\",\"\"l2\"\"]\"\r\n")
        try await stack.export(From<Pamphlet>().orderBy(.ascending(\.mark)), to: .file(path: path))
        #expect(try Self.text(path).hasPrefix("mark,title,pages,shelf,cites\r\nl1,"))
    }

    @Test(arguments: Backend.forObjectLayer, ["jsonl", "json", "csv"])
    func importOfExportedClassesGivesEqualObjects(_ backend: Backend, _ format: String) async throws {
        let folder = try Folder()
        let (first, second) = (try Self.stack(backend, folder, "first"), try Self.stack(backend, folder, "second"))
        try Self.fillShelves(first)
        func file(_ name: String) -> String { "\(folder.path)/\(name).\(format)" }
        func export(_ stack: DataStack, _ prefix: String) async throws {
            try await stack.export(
                From<Pamphlet>().where(\.title == "Plain"), to: .file(path: file(prefix + "pamphlets")))
            try await stack.export(From<Leaflet>().orderBy(.ascending(\.mark)), to: .file(path: file(prefix + "leaflets")))
            try await stack.export(From<Chart>(), to: .file(path: file(prefix + "charts")))
            try await stack.export(From<Shelf>(), to: .file(path: file(prefix + "shelves")))
        }
        try await export(first, "")
        // Targets precede the objects that refer to them; `shelf` of a publication and `publications` of a shelf are two sides of one relationship.
        try await second.perform { transaction in
            let shelf = try transaction.create(Into<Shelf>())
            shelf.name = "s1"
        }
        try await second.importRecords(Into<Pamphlet>(), from: .file(path: file("pamphlets")))
        try await second.importRecords(Into<Chart>(), from: .file(path: file("charts")))
        try await second.importRecords(Into<Leaflet>(), from: .file(path: file("leaflets")))
        let report = try await second.importRecords(Into<Shelf>(), from: .file(path: file("shelves")))
        #expect((report.inserted, report.updated) == (0, 1))
        try await export(second, "again-")
        for name in ["leaflets", "charts", "shelves"] { #expect(try Self.text(file("again-" + name)) == Self.text(file(name)), "\(name)") }
    }

    private static func fillSheets(_ stack: DataStack) throws {
        try stack.performAndWait { transaction in
            var cells: [Cell] = []
            for (row, column) in [("a", 1), ("b", 2), ("a, \"x\"", -3)] {
                let cell = try transaction.create(Into<Cell>())
                (cell.row, cell.column, cell.text) = (row, column, column == 2 ? nil : "at \(row)\(column)")
                cells.append(cell)
            }
            cells[0].next = cells[2]
            cells[2].next = cells[2]
            for (name, corner) in [("first", cells[2]), ("empty", nil)] {
                let sheet = try transaction.create(Into<Sheet>())
                (sheet.name, sheet.corner) = (name, corner)
                if corner != nil { (sheet.cells, sheet.path) = ([cells[0], cells[1]], [cells[2], cells[0]]) }
            }
        }
    }

    @Test(arguments: Backend.forObjectLayer, ["jsonl", "json", "csv"])
    func relationshipsToObjectsWithCompoundIDsAreImportedAgain(_ backend: Backend, _ format: String) async throws {
        let folder = try Folder()
        let (first, second) = (try Self.stack(backend, folder, "first"), try Self.stack(backend, folder, "second"))
        try Self.fillSheets(first)
        func file(_ name: String) -> String { "\(folder.path)/\(name).\(format)" }
        func export(_ stack: DataStack, _ prefix: String) async throws {
            let cells = ExportOptions<Cell>(fields: [\.row, \.column, \.text, \.next])
            try await stack.export(From<Cell>().orderBy(.ascending(\.column)), to: .file(path: file(prefix + "cells")), options: cells)
            try await stack.export(From<Sheet>().orderBy(.ascending(\.name)), to: .file(path: file(prefix + "sheets")))
        }
        try await export(first, "")
        if format == "jsonl" {
            #expect(
                try Self.text(file("sheets")) == """
                    {"name":"empty","corner":null,"cells":[],"path":[]}
                    {"name":"first","corner":["a, \\"x\\"",-3],"cells":[["a",1],["b",2]],"path":[["a, \\"x\\"",-3],["a",1]]}

                    """)
        }
        let cells = try await second.importRecords(Into<Cell>(), from: .file(path: file("cells")))
        let sheets = try await second.importRecords(Into<Sheet>(), from: .file(path: file("sheets")))
        #expect((cells.inserted, sheets.inserted) == (3, 2))
        try await export(second, "again-")
        for name in ["cells", "sheets"] { #expect(try Self.text(file("again-" + name)) == Self.text(file(name)), "\(name)") }
    }

    @Test func compoundIDOfTheWrongShapeIsNamed() async throws {
        let folder = try Folder()
        let stack = try Self.stack(.memory, folder, "first")
        for (value, reason) in [("[\"a\"]", "part"), ("[\"a\",1,2]", "2 values"), ("[\"a\",\"b\"]", "integer"), ("7", "array")] {
            let source = RecordSource.text("{\"name\":\"x\",\"corner\":\(value)}\n", format: .jsonLines, name: "x.jsonl")
            let error = await #expect(throws: StoreError.self) { try await stack.importRecords(Into<Sheet>(), from: source) }
            #expect(error?.code == .invalidValue)
            #expect(error?.message.contains(reason) ?? false, "\(error?.message ?? "")")
            #expect(error?.message.contains("corner") ?? false)
        }
    }
}
