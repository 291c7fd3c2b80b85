import BrowserData
import Hummingbird
import PolyStoreFormats

/// Groups as JSON and CSV.
enum GroupsData {
    static let json = Route.data { request in
        let table = try await read(request)
        return DataResponse.json(.array(table.rows.map { .object(record($0, table)) }))
    }

    static let csv = Route.data { request in
        let table = try await read(request)
        let sink = MemoryByteSink()
        let writer = try RecordWriter(to: sink, format: .csv, columns: table.titles)
        for row in table.rows { try writer.write(record(row, table)) }
        try writer.finish()
        return DataResponse.bytes(sink.bytes, AnswerFormat.csv.mediaType)
    }

    private static func read(_ request: BrowserRequest) async throws -> GroupTable {
        let model = try request.site.store.model(request.required("entity"))
        return try await request.site.store.groups(GroupsView.groupsRequest(model, request), timeLimit: request.site.options.deadline)
    }

    private static func record(_ row: [BrowserValue], _ table: GroupTable) -> JSONObject {
        JSONObject(zip(table.titles, row).map { ($0, value($1)) })
    }

    private static func value(_ value: BrowserValue) -> JSONValue {
        switch value.kind {
        case .null: .null
        case .bool: JSONValue(value.text == "true")
        case .number: JSONNumber(text: value.text).map { .number($0) } ?? JSONValue(value.text)
        default: JSONValue(value.text)
        }
    }
}
