import BrowserData

/// The values of the template of one value.
enum CellView {
    /// The greatest number of bytes of an image that a page shows; a larger one is a link.
    private static let greatestImage = 8 << 20

    /// - Parameter address: The address of the whole value, for a text that is cut and for bytes; nil if there is none.
    static func view(_ value: BrowserValue, whole address: String?) -> View {
        let isImage = value.imageType != nil && address != nil && value.size <= greatestImage
        let isBytes = value.kind == .bytes && !isImage && value.size > 0
        var view: View = ["isNull": value.isNull, "isImage": isImage, "text": text(value), "style": isNumeric(value) ? "number" : ""]
        view["isReference"] = value.reference != nil
        view["address"] = value.reference.map { Addresses.object($0) } ?? ""
        view["isNumber"] = isNumeric(value)
        view["isText"] = !value.isNull && !isImage && value.reference == nil && !isNumeric(value)
        view["isCut"] = (value.isCut || isBytes) && address != nil
        view["whole"] = address ?? ""
        view["wholeTitle"] = value.kind == .bytes ? "Open the bytes" : "Whole text of \(value.size) bytes"
        return view
    }

    static func isNumeric(_ value: BrowserValue) -> Bool { value.kind == .number }

    private static func text(_ value: BrowserValue) -> String {
        if let reference = value.reference { return reference.named(value.text) }
        return value.isCut ? value.text + "…" : value.text
    }
}
