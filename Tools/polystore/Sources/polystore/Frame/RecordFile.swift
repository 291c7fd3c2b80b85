import ArgumentParser
import Foundation
import PolyStoreFormats
import PolyStoreGzip

/// A form of records in a file.
enum RecordFileFormat: String, ExpressibleByArgument, CaseIterable, Sendable {
    case json, jsonl, csv, tsv

    var format: RecordFormat {
        switch self {
        case .json: .json
        case .jsonl: .jsonLines
        case .csv: .csv
        case .tsv: .tsv
        }
    }
}

/// A file of records as the user names it; `-` is a standard stream, and a name that ends with `.gz` a compressed file.
struct RecordFile {
    let path: String
    let format: RecordFileFormat?

    private var isStream: Bool { path == "-" }
    private var isCompressed: Bool { path.lowercased().hasSuffix(".gz") }

    /// Returns the source of an import.
    /// - Throws: `usage` for an unknown format, `failure` for a file that does not exist.
    func source() throws -> RecordSource {
        let format = try resolved()
        if isStream { return RecordSource(name: "standard input", format: format) { InterruptibleInput() } }
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue else {
            throw ToolError(.failure, "There is no file \"\(path)\" to import.")
        }
        var information = stat()
        guard stat(path, &information) == 0, information.st_mode & S_IFMT != S_IFREG else {
            return isCompressed ? .gzip(path: path, format: format) : .file(path: path, format: format)
        }
        let source = RecordSource(name: path, format: format) { [path] in try InterruptibleInput(path: path) }
        return isCompressed ? source.decompressed : source
    }

    /// Returns the destination of an export.
    /// - Throws: `usage` for an unknown format and for a file of the store that is exported, `failure` for a file that exists unless it may be replaced.
    func destination(_ output: ExportOutput, replaces: Bool, of store: StoreLocation) throws -> ExportDestination {
        let format = try resolved()
        if isStream { return ExportDestination(name: "standard output", format: format) { output } }
        guard replaces || !FileManager.default.fileExists(atPath: path) else {
            throw ToolError(.failure, "The file \"\(path)\" exists. Pass --force to replace it.")
        }
        guard !store.contains(path) else {
            throw ToolError(.usage, "\"\(path)\" is a file of the store \(store.name) itself. Name another file with --output.")
        }
        return ExportDestination(name: (path as NSString).lastPathComponent, format: format) { [path, isCompressed] in
            let file = try FileByteSink(path: path, replacesExisting: replaces)
            return isCompressed ? try GzipByteSink(file) : file
        }
    }

    /// Whether the records are lines of fields.
    var isSeparated: Bool {
        get throws { try [.csv, .tsv].contains(resolved()) }
    }

    private func resolved() throws -> RecordFormat {
        if let format { return format.format }
        if isStream { return .jsonLines }
        let name = isCompressed ? String(path.dropLast(3)) : path
        switch (name as NSString).pathExtension.lowercased() {
        case "json": return .json
        case "jsonl", "ndjson": return .jsonLines
        case "csv": return .csv
        case "tsv": return .tsv
        default:
            throw ToolError(.usage, "The format of \"\(path)\" is not known from its name. Pass --format json, jsonl, csv or tsv.")
        }
    }
}

/// The standard output as the destination of an export, whose errors it keeps, because an export describes them as its own.
final class ExportOutput: ByteSink, @unchecked Sendable {  // The export writes on one thread, and has ended before the error is read.
    private(set) var failure: (any Error)?

    func write(_ bytes: UnsafeRawBufferPointer) throws {
        do { try StandardOutput.shared.write(bytes) } catch {
            failure = error
            throw error
        }
    }

    func finish() throws {
        do { try StandardOutput.shared.finish() } catch {
            failure = error
            throw error
        }
    }

    func cancel() {}
}

/// Names of fields in a file that differ from those of their properties.
struct FieldNames: ParsableArguments {
    @Option(
        name: .customLong("field"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp("The name of the field of a property, if it is another one; can be repeated.", valueName: "property=field"))
    var pairs: [String] = []

    /// The names of fields by the names of properties.
    func names() throws -> [String: String] {
        var names: [String: String] = [:]
        for pair in pairs {
            guard let cut = pair.firstIndex(of: "="), cut != pair.startIndex else {
                throw ToolError(.usage, "--field \"\(pair)\" is not a property and a field: write --field name=title.")
            }
            guard names.updateValue(String(pair[pair.index(after: cut)...]), forKey: String(pair[..<cut])) == nil else {
                throw ToolError(.usage, "--field names two fields for the property \"\(pair[..<cut])\".")
            }
        }
        return names
    }
}
