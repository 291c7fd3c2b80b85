import PolyStore

/// A text with a full-text index.
@Model final class Document {
    var body: String = ""
    #Search(\.body)
}
