import BrowserData
import Foundation
import HTTPTypes
import Hummingbird
import PolyStoreFormats

/// The recorded transactions, and those that are committed while a page is open.
enum HistoryView {
    static let route = Route.page { request in
        let history = try historyRequest(request)
        let clock = ContinuousClock()
        let start = clock.now
        let answer = try await request.site.store.history(history)
        var page = Page(template: "history", title: "History", entity: history.entity ?? history.object?.entity, formats: ["json"])
        page.liveAddress = history.before == nil ? liveAddress(since: answer.token, request.query) : nil
        page.view = try view(answer, history, request)
        CostView.add(PaneCost(milliseconds: PaneCost.milliseconds(clock.now - start)), to: &page.view, title: "Cost of the history")
        return page.response(request)
    }

    static let json = Route.data { request in
        let answer = try await request.site.store.history(historyRequest(request))
        return DataResponse.json(
            JSONValue(
                JSONObject([
                    ("transactions", .array(answer.transactions.map(json))), ("older", answer.older.map { JSONValue($0) } ?? .null),
                    ("token", JSONValue(answer.token)),
                ])))
    }

    // MARK: Live

    /// Returns the address of the events of what is committed after a point.
    static func liveAddress(since token: String, _ query: QueryItems = QueryItems()) -> String {
        QueryItems(query.items.filter { ["entity", "id", "author"].contains($0.name) } + [("since", token)]).address("/history.events")
    }

    static let events = Route.stream { request in
        // A browser that lost the connection names the last event that it received.
        let since = request.request.headers[lastEventID] ?? request.query["since"]
        let changes = try request.site.store.liveChanges(since: since, for: historyRequest(request))
        return StreamedResponse.events(request) { send in
            for try await change in changes {
                switch change {
                case .transaction(let transaction, let token):
                    try await send(ServerEvent(name: "transaction", data: "\(event(transaction, request))", id: token))
                case .unknown:
                    try await send(
                        ServerEvent(name: "unknown", data: "A program that records no history changed the store. Load the page again."))
                case .expired:
                    try await send(ServerEvent(name: "ended", data: "Older entries of the history were deleted. Load the page again."))
                    return
                }
            }
        }
    }

    private static let lastEventID = HTTPField.Name("Last-Event-ID")!  // A constant that is a valid name.

    private static func event(_ transaction: LiveTransaction, _ request: BrowserRequest) -> JSONValue {
        let changes = transaction.objects.map { object in
            JSONValue(
                JSONObject([("kind", JSONValue(object.kind.rawValue)), ("object", JSONValue(Addresses.text(object.reference)))]))
        }
        let markup = transaction.selected.map { JSONValue(request.site.templates.render("transaction", view($0))) } ?? .null
        return JSONValue(JSONObject([("changes", .array(changes)), ("count", JSONValue(transaction.changeCount)), ("markup", markup)]))
    }

    // MARK: Request

    private static func historyRequest(_ request: BrowserRequest) throws -> HistoryRequest {
        var history = HistoryRequest()
        history.entity = request.query["entity"]
        if request.query["id"] != nil { (history.object, history.entity) = (try request.object(), nil) }
        history.author = request.query.contains("author") ? request.query["author"] ?? "" : nil
        history.before = try request.number("before")
        history.size = min(max(try request.number("size") ?? 50, 1), HistoryRequest.greatestSize)
        return history
    }

    // MARK: Answer

    private static func view(_ answer: HistoryPage, _ history: HistoryRequest, _ request: BrowserRequest) throws -> View {
        var view: View = ["entries": answer.transactions.map(view)]
        view["scope"] = history.object.map { "\($0.entity) \($0.rowID)" } ?? history.entity
        if !answer.hasHistory {
            view["note"] = "The store has no history. A program records one if it opens the store with a history."
        } else if answer.transactions.isEmpty {
            view["note"] = "No transaction was found."
        }
        let query = request.query
        var pages: [View] = []
        if history.before != nil {
            pages.append(["title": "Newest", "key": "[", "relation": "first", "address": query.with([("before", nil)]).address("/history")])
        }
        if let older = answer.older {
            pages.append([
                "title": "Older", "key": "n", "relation": "next", "address": query.with([("before", "\(older)")]).address("/history"),
            ])
        }
        view["pages"] = pages
        return view
    }

    private static func view(_ transaction: HistoryPage.Transaction) -> View {
        let others = transaction.changeCount - transaction.changes.count
        return [
            "date": iso(transaction.date), "dateText": iso(transaction.date), "version": "\(transaction.version)",
            "hasAuthor": transaction.author != nil, "author": transaction.author ?? "", "hasMore": others > 0,
            "moreText": "\(others) further change\(others == 1 ? "" : "s").", "changes": transaction.changes.map(view),
        ]
    }

    private static func view(_ change: HistoryPage.Change) -> View {
        let keys = change.properties.map { name in change.previous[name].map { "\(name) (was \($0.text))" } ?? name }
        return [
            "kind": change.kind.rawValue, "title": title(change.object),
            "exists": change.kind != .deleted && change.object.reference != nil,
            "address": change.object.reference.map { Addresses.object($0) } ?? "", "hasKeys": !keys.isEmpty,
            "keys": keys.joined(separator: ", "),
        ]
    }

    private static func title(_ object: NamedObject) -> String {
        let plain = object.reference.map { "\($0.entity) \($0.rowID)" } ?? object.entity
        return object.name.map { $0.isEmpty ? plain : "\(plain) \($0)" } ?? plain
    }

    private static func iso(_ date: Date) -> String { BrowserValue.text(date) }

    private static func json(_ transaction: HistoryPage.Transaction) -> JSONValue {
        let changes = transaction.changes.map { change in
            JSONValue(
                JSONObject([
                    ("kind", JSONValue(change.kind.rawValue)), ("entity", JSONValue(change.object.entity)),
                    ("id", change.object.reference.map { JSONValue($0.rowID) } ?? .null),
                    ("properties", .array(change.properties.map { JSONValue($0) })),
                ]))
        }
        return JSONValue(
            JSONObject([
                ("version", JSONValue(transaction.version)), ("date", JSONValue(iso(transaction.date))),
                ("author", transaction.author.map { JSONValue($0) } ?? .null), ("changeCount", JSONValue(transaction.changeCount)),
                ("changes", .array(changes)),
            ]))
    }
}
