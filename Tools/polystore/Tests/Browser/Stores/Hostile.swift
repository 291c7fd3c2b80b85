import Foundation
import PolyStore
import PolyStoreBackend

/// A store whose names and values are markup, scripts, paths and escapes, and whose texts and objects are large.
enum Hostile {
    /// Texts that do something where a page does not escape them. A script that runs sets `window.harmed`.
    static let texts = [
        "<script>window.harmed=1</script>", "\"><img src=x onerror=\"window.harmed=1\">", "'><svg onload=window.harmed=1>",
        "</textarea><script>window.harmed=1</script>",
        "</title><script>window.harmed=1</script>", "javascript:window.harmed=1", "{{name}}{{{name}}}{{>layout}}", "<!--", "]]>",
        "&lt;b&gt;&amp;#0;",
        "a\u{0}b", "\u{202e}txt.exe", "שלום <b>עולם</b>", "line\r\nSet-Cookie: harmed=1", "=HYPERLINK(\"http://evil.example\")",
        "../../etc/passwd", "%00%2e%2e", "",
        " ", "\u{feff}\u{200b}", "👩‍👩‍👧‍👦", "'; DROP TABLE x; --", "\\u003cscript\\u003e", "<a href=\"https://evil.example/\">click</a>",
    ]

    static let entity = "<script>window.harmed=1</script>"
    static let other = "\"><img src=x onerror=\"window.harmed=1\">"
    static let path = "a/b?c=d&e#f%20+g"
    static let attributeNames = [
        "<b onmouseover=window.harmed=1>bold", "' autofocus onfocus=window.harmed=1 x='", "a&b=c", "{{name}}", "שם", "first name",
    ]

    static let schema = SchemaDescription(
        name: "</title><script>window.harmed=1</script>",
        entities: [
            EntityDescription(
                name: entity,
                properties: attributeNames.map { attribute($0, .string, indexed: true) } + [
                    attribute("bytes", .data), attribute("link", .url), attribute("tree", .json), attribute("number", .double),
                    relationship("next \"one\"", entity), relationship("<all>", other, many: true, ordered: true, inverse: "<owner>"),
                ], searchIndexes: [SearchIndexDescription(fields: [attributeNames[0]])]),
            EntityDescription(name: other, properties: [attribute("name", .string), relationship("<owner>", entity, many: true)]),
            EntityDescription(name: path, properties: [attribute("name", .string)]),
            EntityDescription(name: "Wide", properties: (0..<200).map { attribute("property\($0)", .string) }),
            EntityDescription(
                name: "Large", properties: [attribute("name", .string), attribute("text", .string), attribute("bytes", .data)]),
        ])

    /// Bytes that browsers take for documents or images.
    private static let files: [Data] = [
        Data("<html><script>window.harmed=1</script>".utf8),
        Data("<svg xmlns='http://www.w3.org/2000/svg' onload='window.harmed=1'/>".utf8),
        Data([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) + Data("<script>window.harmed=1</script>".utf8),
        Data("GIF89a<script>window.harmed=1</script>".utf8),
        Data(), Data([0]),
    ]

    static func fill(_ transaction: Transaction) throws {
        var objects: [DynamicObject] = []
        for (index, text) in texts.enumerated() {
            let object = try transaction.create(
                entity, ["bytes": .data(files[index % files.count]), "number": .real(numbers[index % numbers.count])])
            for name in attributeNames { try object.set(name, to: .text(text)) }
            if let url = URL(string: "javascript:window.harmed=1") { try object.set("link", to: .url(url)) }
            objects.append(object)
            let related = try transaction.create(other, ["name": .text(text)])
            try object.set("<all>", to: [related])
        }
        for (object, next) in zip(objects, objects.dropFirst()) { try object.set("next \"one\"", to: next) }
        _ = try transaction.create(path, ["name": "path"])
        _ = try transaction.create("Wide", Dictionary(uniqueKeysWithValues: (0..<200).map { ("property\($0)", .text("value \($0)")) }))
        let million = String(repeating: "<i>0123456789</i>\n", count: 1_000_000 / 18)
        _ = try transaction.create(
            "Large", ["name": "one megabyte", "text": .text(million), "bytes": .data(Data(repeating: 0xff, count: 1_000_000))])
        _ = try transaction.create("Large", ["name": "one word", "text": .text(String(repeating: "x", count: 1_000_000))])
    }

    private static let numbers = [Double.nan, .infinity, -.infinity, -0.0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1]
}
