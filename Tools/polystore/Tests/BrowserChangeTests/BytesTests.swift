import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreFormats
import Testing

/// Rows and objects as JSON, JSON Lines and CSV.
@Suite struct BytesTests {
    /// Returns all bytes, and the number of chunks.
    private static func all(_ bytes: RowBytes) async throws -> (text: String, chunks: Int) {
        var (all, chunks) = ([UInt8](), 0)
        for try await chunk in bytes {
            #expect(!chunk.isEmpty)
            all += chunk
            chunks += 1
        }
        return (String(decoding: all, as: UTF8.self), chunks)
    }

    @Test(arguments: Engine.available)
    func rowsAreWrittenExactly(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser(writes: false)
        var request = RowsRequest("Player")
        request.columns = ["name", "club", "number"]
        request.filter = "number > 0"
        request.order = RowsRequest.Order("number", isAscending: false)
        let red = try await browser.reference("Club", "Red").rowID
        let csv = try await Self.all(browser.bytes(of: request, as: .csv)).text
        let ids = try await ["Cid", "Bob", "Ann"].asyncMap { try await browser.reference("Player", $0).rowID }
        let lines = zip(ids, ["Cid,\(red),3", "Bob,\(red),2", "Ann,\(red),1"]).map { "Player,\($0),\($1)" }
        #expect(csv.split(whereSeparator: \.isNewline).map(String.init) == ["_entity,_id,name,club,number"] + lines)
        let json = try JSONValue(parsing: try await Self.all(browser.bytes(of: request, as: .json)).text)
        #expect(json.array?.count == 3 && json[0]?["name"] == "Cid" && json[2]?["number"] == 1)
        let jsonLines = try await Self.all(browser.bytes(of: RowsRequest("Keeper"), as: .jsonl)).text
        #expect(jsonLines.contains("18446744073709551615") && jsonLines.hasPrefix(#"{"_entity":"Keeper","_id":"#), "\(jsonLines)")
        let club = try await Self.all(browser.bytes(of: RowsRequest("Club"), as: .json)).text
        let values = try JSONValue(parsing: club)
        #expect(values[1]?["crest"] == "iVAA/w==" && values[0]?["settings"] == [] && values[0]?["founded"]?.isNull == true, "\(club)")
        request.filter = "number > 100"
        #expect(try await Self.all(browser.bytes(of: request, as: .csv)).text.split(whereSeparator: \.isNewline).count == 1)
        #expect(try await JSONValue(parsing: Self.all(browser.bytes(of: request, as: .json)).text) == [])
        request.filter = "number >"
        #expect(throws: (any Error).self) { _ = try browser.bytes(of: RowsRequest("Nothing"), as: .csv) }
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func longAnswersAreWrittenInChunks(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser()
        try await browser.stack.perform { transaction in
            let motto = QueryValue.text(String(repeating: "long, \"text\"\n", count: 40))
            for number in 0..<2_500 { try transaction.create("Club", ["name": .text("C\(number)"), "motto": motto]) }
        }
        let (text, chunks) = try await Self.all(browser.bytes(of: RowsRequest("Club"), as: .json))
        #expect(chunks > 2)
        #expect(try JSONValue(parsing: text).array?.count == 2_502)
        // A reader that stops leaves nothing open.
        var iterator = try browser.bytes(of: RowsRequest("Club"), as: .csv).makeAsyncIterator()
        #expect(try await iterator.next()?.isEmpty == false)
        let stopped = Task {
            var count = 0
            for try await chunk in try browser.bytes(of: RowsRequest("Club"), as: .csv) { count += chunk.count }
            return count
        }
        stopped.cancel()
        await #expect(throws: (any Error).self) { try await stopped.value }
        try await browser.close()
    }

    @Test(arguments: Engine.available)
    func objectsAreWrittenWithTheirTargets(_ engine: Engine) async throws {
        let league = try League(engine)
        let browser = try await league.browser(writes: false)
        let red = try await browser.reference("Club", "Red")
        let json = try JSONValue(parsing: try #require(try await browser.bytes(of: red, as: .json)))
        #expect(json["entity"] == "Club" && json["id"] == JSONValue(red.rowID))
        #expect(json["properties"]?["budget"] == 12.5 && json["properties"]?["players"]?["count"] == 4)
        #expect(json["properties"]?["songs"]?["ids"]?.array?.count == 3)
        let csv = String(decoding: try #require(try await browser.bytes(of: red, as: .csv)), as: UTF8.self)
        #expect(csv.hasPrefix("property,value") && csv.contains("name,Red"))
        #expect(try await browser.bytes(of: ObjectReference(entity: "Club", rowID: 999), as: .json) == nil)
        try await browser.close()
    }
}

extension Array where Element: Sendable {
    fileprivate func asyncMap<T>(_ transform: (Element) async throws -> T) async throws -> [T] {
        var result: [T] = []
        for element in self { result.append(try await transform(element)) }
        return result
    }
}
