import Foundation
import TestSupport

/// The King James text and its concordance, of the Debian packages `bible-kjv` and `bible-kjv-text`.
struct Verses {
    /// The texts of the verses, in order.
    let texts: [String]
    /// The number of each verse by its name in the concordance, such as `Gen1:1`.
    private let numbers: [String: Int]
    private let folder: Folder
    /// The names of the books in the concordance, in order. The program gives the text other names.
    private static let books = """
        Gen Ex Lev Num Dt Jsh Jdg Ru 1Sa 2Sa 1Ki 2Ki 1Ch 2Ch Ezr Ne Es Job Ps Pr Ec SoS Is Je Lam Ezk Da Ho Jl Am Ob Jon Mi Na Hab Zep Hag Zec Mal \
        Mt Mk Lu Jn Ac Ro 1Co 2Co Ga Ep Php Co 1Th 2Th 1Ti 2Ti Ti Phm He Ja 1Pe 2Pe 1Jn 2Jn 3Jn Jde Re
        """.split(separator: " ").map(String.init)

    /// Downloads the packages without installing them; nil where that is not possible.
    init?() throws {
        folder = try Folder()
        guard Self.run("/usr/bin/apt-get", ["download", "bible-kjv", "bible-kjv-text"], in: folder.path) != nil else { return nil }
        for package in folder.names where package.hasSuffix(".deb") {
            guard Self.run("/usr/bin/dpkg-deb", ["-x", package, "unpacked"], in: folder.path) != nil else { return nil }
        }
        guard let lines = Self.bible(["Gen1:1-Rev99:99"], "", in: folder.path)?.split(separator: "\n"), lines.count > 31_000 else {
            return nil
        }
        var (texts, numbers): ([String], [String: Int]) = ([], [:])
        var (book, last) = (-1, "")
        for line in lines {
            guard let space = line.firstIndex(of: " "), let colon = line[..<space].firstIndex(of: ":") else { continue }
            // The chapter is the digits before the colon; some books begin with a digit.
            let name = line[..<colon]
            let chapter = name.reversed().prefix { $0.isNumber }.count
            let title = String(name.dropLast(chapter))
            if title != last { (book, last) = (book + 1, title) }
            guard book < Self.books.count else { return nil }
            numbers[Self.books[book] + name.suffix(chapter) + line[colon..<space]] = texts.count
            texts.append(String(line[line.index(after: space)...]))
        }
        (self.texts, self.numbers) = (texts, numbers)
    }

    /// Returns the numbers of the verses that the concordance names for each of some words, in ascending order.
    func concordance(_ words: [String]) -> [String: [Int]] {
        var found: [String: [Int]] = [:]
        let commands = words.map { "??\($0)\n?list\n" }.joined() + "q\n"
        guard let output = Self.bible([], commands, in: folder.path) else { return [:] }
        var word = ""
        for line in output.split(separator: "\n") {
            if let start = line.range(of: "Searching for '"), let end = line[start.upperBound...].firstIndex(of: "'") {
                word = String(line[start.upperBound..<end])
                found[word] = []
                continue
            }
            if !word.isEmpty, let number = numbers[String(line)] { found[word, default: []].append(number) }
        }
        return found.mapValues { Array(Set($0)).sorted() }
    }

    private static func bible(_ arguments: [String], _ input: String, in folder: String) -> String? {
        run(folder + "/unpacked/usr/bin/bible", ["-p", folder + "/unpacked/usr/lib", "-f"] + arguments, in: folder, input: input)
    }

    /// Runs a program and returns its output; nil if it cannot be run or fails.
    private static func run(_ program: String, _ arguments: [String], in folder: String, input: String = "") -> String? {
        guard FileManager.default.isExecutableFile(atPath: program) else { return nil }
        let inputFile = folder + "/input"
        let outputFile = folder + "/output"
        guard FileManager.default.createFile(atPath: inputFile, contents: Data(input.utf8)),
            FileManager.default.createFile(atPath: outputFile, contents: nil),
            let standardInput = FileHandle(forReadingAtPath: inputFile), let output = FileHandle(forWritingAtPath: outputFile)
        else { return nil }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.currentDirectoryURL = URL(fileURLWithPath: folder)
        process.standardInput = standardInput
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        do { try process.run() } catch { return nil }
        process.waitUntilExit()
        guard process.terminationStatus == 0, let data = FileManager.default.contents(atPath: outputFile) else { return nil }
        return String(decoding: data, as: UTF8.self)
    }
}
