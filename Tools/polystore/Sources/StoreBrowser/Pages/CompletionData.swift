import BrowserData
import PolyStoreFormats

/// The words that can continue a condition while it is typed. Positions are in bytes of UTF-8.
enum CompletionData {
    static let route = Route.data { request in
        let text = request.query["text"] ?? ""
        let at = max(0, min(try request.number("at") ?? text.utf8.count, text.utf8.count))
        let answer = try await request.site.store.completions(
            of: text, at: MistakeView.characters(text, at), entity: try request.required("entity"))
        let choices = answer.words.map { word in
            JSONValue(
                JSONObject([("text", JSONValue(word.text)), ("detail", JSONValue(word.detail)), ("kind", JSONValue(word.kind.rawValue))]))
        }
        let (start, end) = (answer.replaced.lowerBound, answer.replaced.upperBound)
        return DataResponse.json(
            JSONValue(
                JSONObject([
                    ("start", JSONValue(MistakeView.bytes(text, start))), ("end", JSONValue(MistakeView.bytes(text, end))),
                    ("choices", .array(choices)),
                ])))
    }
}
