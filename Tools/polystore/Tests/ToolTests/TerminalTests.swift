import Foundation
import PolyStore
import PolyStoreSQLite
import StoreTesting
import Testing

/// Terminals, pipes and signals.
@Suite struct TerminalTests {
    private let folder: TemporaryFolder
    private let url: String

    init() throws {
        folder = try TemporaryFolder()
        url = try Engine.sqlite.makeLibrary(in: folder)
    }

    /// Adds so many rows that they do not fit in a pipe.
    private func addRows() throws {
        let stack = try DataStack(Library.schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: StoreEngines([.sqlite]))
        try stack.performAndWait { transaction in
            for number in 0..<5000 {
                let loan = try transaction.create(Loan.self)
                loan.due = Date(timeIntervalSinceReferenceDate: Double(number))
            }
        }
        try stack.closeAndWait()
    }

    @Test func tableFitsTheTerminal() throws {
        let (output, status) = try Tool.runInTerminal(
            ["query", url, "Book", "--columns", "code, title, tags"], columns: 30, in: folder, ["NO_COLOR": "1"])
        #expect(status == 0)
        #expect(
            output == """
                code  title        tags
                ────  ───────────  ───────────
                b1    A 100 % "t…  ["new","it…
                b2    Crème brûl…  []
                b3                 []

                """)
    }

    @Test func coloursAreOnlyForTerminalsThatWantThem() throws {
        let arguments = ["query", url, "Book", "--columns", "code"]
        #expect(try Tool.runInTerminal(arguments, columns: 80, in: folder).output.hasPrefix("\u{1b}[1mcode\u{1b}[0m\n"))
        #expect(try Tool.runInTerminal(arguments, columns: 80, in: folder, ["NO_COLOR": "1"]).output.hasPrefix("code\n"))
        #expect(try Tool.runInTerminal(arguments, columns: 80, in: folder, ["TERM": "dumb"]).output.hasPrefix("code\n"))
        #expect(
            try Tool.runInTerminal(["count", url, "Nobody"], columns: 80, in: folder).output.hasPrefix("\u{1b}[31mpolystore:\u{1b}[0m "))
        #expect(
            try !Tool.run("polystore query '\(url)' Book; polystore count '\(url)' Nobody", in: folder, mergesErrors: true).output.contains(
                "\u{1b}"))
    }

    @Test func progressIsOnlyForTerminals() throws {
        let (output, status) = try Tool.runInTerminal(["verify", url], columns: 60, in: folder)
        #expect(status == 0)
        #expect(output.contains("\r\u{1b}[K"))
        #expect(output.hasSuffix("No damage was found.\n"))
        let piped = try Tool.run("polystore verify '\(url)'", in: folder)
        #expect((piped.output, piped.errors) == ("No damage was found.\n", ""))
    }

    @Test func readerThatHasEnoughEndsTheCommandQuietly() throws {
        try addRows()
        let result = try Tool.run("polystore query '\(url)' Loan --format csv | head -1; echo \"${PIPESTATUS[0]}\"", in: folder)
        #expect(result.output == "objectID,due,book\r\n141\n")
        #expect(result.errors == "")
    }

    @Test func closedStreamsDoNotDamageTheStore() throws {
        let result = try Tool.run("polystore query '\(url)' Book >&-; echo $?", in: folder)
        #expect(result.output == "4\n")
        #expect(result.errors == "polystore: The output cannot be written: Bad file descriptor.\n")
        #expect(try Tool.run("polystore count '\(url)' Nobody 2>&-; echo $?", in: folder).output == "2\n")
        #expect(try Tool.run("polystore count '\(url)' Book <&-", in: folder).output == "3\n")
        #expect(try Tool.run("polystore verify '\(url)'", in: folder).status == 0)
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func fullDiskIsReported() throws {
        let result = try Tool.run("polystore query '\(url)' Book >/dev/full; echo $?", in: folder)
        #expect(result.output == "4\n")
        #expect(result.errors == "polystore: The output cannot be written: No space left on device.\n")
    }

    /// The second signal ends a command that waits for the reader of its output.
    @Test func interruptionEndsACommand() throws {
        try addRows()
        let result = try Tool.run(
            """
            set -m
            mkfifo pipe
            "$POLYSTORE" query '\(url)' Loan --format jsonl >pipe & tool=$!
            exec 3<pipe
            while kill -INT $tool 2>/dev/null; do sleep 0.05; done
            wait $tool; echo $?
            """, in: folder)
        #expect(result.output == "130\n")
    }

    @Test func signalsHaveTheirExitCodes() throws {
        try addRows()
        for (signal, code) in [("TERM", 143), ("HUP", 129)] {
            let result = try Tool.run(
                """
                set -m
                mkfifo pipe-\(signal)
                "$POLYSTORE" query '\(url)' Loan --format jsonl >pipe-\(signal) & tool=$!
                exec 3<pipe-\(signal)
                while kill -\(signal) $tool 2>/dev/null; do sleep 0.05; done
                wait $tool; echo $?
                """, in: folder)
            #expect(result.output == "\(code)\n")
        }
    }

    @Test func ignoredSignalsStayIgnored() throws {
        try addRows()
        let result = try Tool.run(
            """
            trap '' HUP INT
            mkfifo pipe
            "$POLYSTORE" query '\(url)' Loan --format jsonl >pipe & tool=$!
            exec 3<pipe
            read -r line <&3
            for i in 1 2 3 4 5; do kill -HUP $tool; kill -INT $tool; sleep 0.05; done
            cat <&3 | wc -l
            wait $tool; echo $?
            """, in: folder)
        #expect(result.output.split(whereSeparator: \.isWhitespace) == ["4999", "0"])
    }

    @Test func helpListsTheExitCodes() throws {
        let help = try Tool.run("polystore --help", in: folder)
        #expect(help.status == 0)
        for code in [0, 1, 2, 3, 4, 130, 141] { #expect(help.output.contains("\n  \(code) ")) }
        #expect(try Tool.run("polystore query --help", in: folder).output.contains("EXAMPLES"))
        #expect(try Tool.run("polystore", in: folder).output == help.output)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func completionsAreGenerated(_ shell: String) throws {
        let script = try Tool.run("polystore --generate-completion-script \(shell)", in: folder)
        #expect(script.status == 0)
        #expect(script.output.contains("---completion"))
    }

    @Test func namesOfTheStoreAreCompleted() throws {
        try Tool.run("polystore --generate-completion-script bash >complete.bash", in: folder).succeeded()
        let path = url.dropFirst("sqlite:".count)
        let result = try Tool.run(
            """
            source ./complete.bash
            words() {
                COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; COMPREPLY=()
                _polystore polystore "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
                echo "${COMPREPLY[*]}"
            }
            words polystore query '\(path)' Pu
            words polystore query '\(path)' Book --columns title,publisher.r
            words polystore query nothing Pu
            """, in: folder)
        #expect(result.output == "Publication Publisher\ntitle,publisher.rank\n\n")
    }
}
