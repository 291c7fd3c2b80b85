import Foundation
import PolyStore
import PolyStoreSQLite
import StoreTesting
import Testing

/// The input and the output of the tool: files, pipes, messages and exit codes.
@Suite struct StreamTests {
    private let folder: TemporaryFolder
    private let url: String

    init() throws {
        folder = try TemporaryFolder()
        url = try Engine.sqlite.makeLibrary(in: folder)
    }

    private func run(_ command: String) throws -> Tool.Result { try Tool.run(command, in: folder, ["STORE": url]) }

    // MARK: Rows

    @Test(arguments: Engine.available)
    func anyColumnCanHaveTheNameOfTheID(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        for options in ["", " --limit 2000", " --limit 3", " --distinct"] {
            let result = try Tool.run(
                "polystore query '\(url)' Book --columns 'code as objectID' --order code --format jsonl\(options)", in: folder)
            #expect(
                result.output == #"{"objectID":"b1"}\#n{"objectID":"b2"}\#n{"objectID":"b3"}\#n"#, "\(engine)\(options): \(result.errors)")
        }
        let odd = try Tool.run(
            "polystore query '\(url)' Book --columns 'objectID, objectID as row' --order code --format jsonl", in: folder)
        #expect(odd.output.hasPrefix("{\"objectID\":1,\"row\":1}\n"), "\(odd.output) \(odd.errors)")
    }

    @Test func nullsInASingleColumnOfCSVAreRefusedBeforeTheFirstRow() throws {
        for command in [
            "query \"$STORE\" Author --columns born", "query \"$STORE\" Author --columns born --distinct",
            "query \"$STORE\" Book --columns price", "group \"$STORE\" Author \"name == 'Zoe'\" --select 'max(born)'",
            "export \"$STORE\" Author --properties born", "export \"$STORE\" Author --properties born --output x.csv",
        ] {
            let result = try run("polystore \(command) --format csv; status=$?; ls x.* 2> /dev/null; exit $status")
            #expect(result.status == 2 && result.output == "", "\(command): \(result.output) \(result.errors)")
            #expect(result.errors.contains("--format jsonl, or add a column"), "\(command): \(result.errors)")
        }
        for command in [
            "query \"$STORE\" Author --columns name", "query \"$STORE\" Author --columns 'born, name'",
            "query \"$STORE\" Author 'born != nil' --columns born",
            "export \"$STORE\" Author --properties name", "export \"$STORE\" Book 'price != nil' --properties price,code",
        ] {
            let result = try run("polystore \(command) --format csv")
            #expect(result.status == 0 && result.errors == "", "\(command): \(result.errors)")
        }
    }

    // MARK: Files

    @Test func replacedFileKeepsItsPermissionsAndLinks() throws {
        let result = try run(
            """
            touch real.jsonl; chmod 600 real.jsonl; ln -s real.jsonl link.jsonl
            polystore export "$STORE" Publisher -o link.jsonl --force; ls -l real.jsonl | cut -c1-10; ls -l link.jsonl | cut -c1; wc -l < real.jsonl
            chmod 640 real.jsonl; polystore export "$STORE" Publisher -o real.jsonl --force --format csv > out.txt; ls -l real.jsonl | cut -c1-10
            mkfifo pipe; cat pipe > got.jsonl & polystore export "$STORE" Publisher -o pipe --force --format jsonl > out.txt
            wait; ls -l pipe | cut -c1; wc -l < got.jsonl; ls *.partial 2> /dev/null
            """)
        let lines = result.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(
            lines == ["Exported 2 Publisher to link.jsonl.", "-rw-------", "l", "2", "-rw-r-----", "p", "2"],
            "\(result.output) \(result.errors)")
    }

    @Test func existingFilesAreNotReplacedWithoutForce() throws {
        let result = try run(
            """
            echo mine > a.jsonl; mkdir folder.jsonl
            polystore export "$STORE" Publisher -o a.jsonl; echo "[$?]"; cat a.jsonl
            polystore export "$STORE" Publisher -o folder.jsonl --force; echo "[$?]"; ls -a folder.jsonl | wc -l
            """)
        #expect(result.output.split(whereSeparator: \.isWhitespace) == ["[4]", "mine", "[4]", "2"], "\(result.output) \(result.errors)")
    }

    @Test(arguments: Engine.files)
    func exportDoesNotReplaceTheStore(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        let name = "library.\(engine.rawValue)"
        var paths = [name, "./\(name)", "link"]
        if engine == .sqlite { paths += ["\(name)-wal", "\(name)-shm"] }
        if engine == .leveldb { paths = ["\(name)/x.jsonl"] }
        let result = try Tool.run(
            """
            ln -s '\(name)' link
            for path in \(paths.map { "'\($0)'" }.joined(separator: " ")); do
                polystore export '\(url)' Publisher -o "$path" --force --format jsonl; echo "[$?]"
            done
            polystore export '\(url)' Publisher -o '\(name)-export.jsonl' --force; polystore verify '\(url)'
            """, in: folder)
        let refused = paths.map { _ in "[2]\n" }.joined()
        #expect(
            result.output == refused + "Exported 2 Publisher to \(name)-export.jsonl.\nNo damage was found.\n",
            "\(engine): \(result.output) \(result.errors)")
        #expect(result.errors.contains("is a file of the store"))
    }

    // MARK: Input

    /// One signal ends a command that waits for its input.
    @Test(arguments: ["import \"$STORE\" Publisher -", "import \"$STORE\" Publisher pipe --format jsonl", "migrate \"$STORE\" --to -"])
    func interruptionEndsTheWaitForInput(_ command: String) throws {
        for (signal, code) in [("INT", 130), ("TERM", 143)] {
            let result = try run(
                """
                set -m
                rm -f pipe; mkfifo pipe; exec 3<>pipe
                "$POLYSTORE" \(command) <&3 > out.txt 2> errors.txt & tool=$!
                # More than a pipe holds, so that the tool reads when it is written.
                seq 1 20000 | sed 's/.*/{"name":"p&"}/' >&3
                kill -\(signal) $tool; wait $tool; echo $?
                polystore count "$STORE" Publisher
                """)
            #expect(result.output == "\(code)\n2\n", "\(command): \(result.output) \(result.errors)")
        }
    }

    @Test func inputOfAPipeIsReadToItsEnd() throws {
        let result = try run(
            """
            seq 1 3000 | sed 's/.*/{"name":"p&"}/' | polystore import "$STORE" Publisher -
            polystore import "$STORE" Publisher <(echo '{"name":"q"}' | gzip) --format jsonl 2> /dev/null || true
            polystore import "$STORE" Publisher <(echo '{"name":"r"}') --format jsonl
            polystore schema "$STORE" --format json | polystore migrate "$STORE" --to -
            """)
        #expect(
            result.output == """
                Imported 3 000 records of Publisher: 3 000 inserted, 0 updated, 0 left out.
                Imported 1 record of Publisher: 1 inserted, 0 updated, 0 left out.
                No migration is needed.

                """, "\(result.output) \(result.errors)")
    }

    // MARK: Messages

    @Test func passwordsAreNotPrinted() throws {
        let urls = [
            "PostgreSQL://jane:secret-word@127.0.0.1:1/db", "POSTGRES://jane:secret-word@127.0.0.1:1/db",
            "mysql://jane:secret-word@127.0.0.1/db",
            "postgresql://jane:secret/secret-word@127.0.0.1:1/db", "x y://jane:secret-word@127.0.0.1/db",
        ]
        for url in urls {
            for command in [
                "info '\(url)'", "verify '\(url)'", "backup \"$STORE\" '\(url)'", "convert \"$STORE\" '\(url)'", "diff \"$STORE\" '\(url)'",
                "count \"$STORE\" Author 'TRUEPREDICATE' '\(url)'",
            ] {
                let result = try run("polystore \(command)")
                #expect(![0, 1].contains(result.status), "\(command)")
                #expect(!(result.output + result.errors).contains("secret"), "\(command): \(result.output) \(result.errors)")
            }
        }
        let capital = try run("polystore info 'PostgreSQL://jane@127.0.0.1:1/db'; polystore count \"SQLite:${STORE#sqlite:}\" Author")
        #expect(capital.output == "3\n" && capital.errors.contains("127.0.0.1"), "\(capital.errors)")
    }

    @Test(.enabled(if: PostgreSQL.url != nil))
    func backupDoesNotPrintThePasswordOfItsCopy() throws {
        let url = try Engine.postgresql.makeLibrary(in: folder)
        let copy = Engine.postgresql.url(folder, "copy").replacing("@", with: ":secret-word@", maxReplacements: 1)
        try #require(copy.contains(":secret-word@"))
        let result = try Tool.run("polystore backup \"$STORE\" \"$COPY\"", in: folder, ["STORE": url, "COPY": copy])
        #expect(!(result.output + result.errors).contains("secret-word"), "\(result.output) \(result.errors)")
        #expect(result.output.hasPrefix("Copied ") && result.output.contains("_copy"), "\(result.output) \(result.errors)")
    }

    @Test func messagesContainNoControlCharactersOfData() throws {
        let result = try run(
            #"""
            name='\u001b[31m\u0007\u200e\u061c\u009b'
            printf '{"name":"%s%s"}\n' "$name" "$(printf 'x%.0s' $(seq 60))" > long.jsonl; sed -i.old 's/\\\\u/\\u/g' long.jsonl
            polystore import "$STORE" Publisher long.jsonl
            polystore import "$STORE" Publisher long.jsonl --on-invalid skip
            printf 'name,rank\nx,\033[31m\n' > bad.csv; polystore import "$STORE" Publisher bad.csv
            printf '\033[31m,rank\nx,1\n' > fields.csv; polystore import "$STORE" Publisher fields.csv
            polystore count "$STORE" "$(printf 'A\033[31m')"
            polystore query "$STORE" "$(printf 'A\033[31m')" --format "$(printf '\033[31m')"
            """#)
        for scalar in (result.output + result.errors).unicodeScalars where scalar != "\n" {
            let isControl = scalar.properties.generalCategory == .control || ["\u{200e}", "\u{61c}"].contains(scalar)
            #expect(!isControl, "U+\(String(scalar.value, radix: 16)): \(result.errors.debugDescription)")
        }
        #expect(result.errors.contains("\\u{1b}"))
    }

    // MARK: Exit codes

    @Test func recordsThatAreLeftOutHaveAnExitCode() throws {
        let result = try run(
            #"""
            printf 'name,rank\na,x\nb,1\nc,y\n' > publishers.csv
            polystore import "$STORE" Publisher publishers.csv --on-invalid skip; echo "[$?]"
            printf 'name,rank\na,x\n' > publishers.csv; polystore import "$STORE" Publisher publishers.csv --on-invalid skip --dry-run; echo "[$?]"
            printf 'name,rank\nd,1\n' > publishers.csv; polystore import "$STORE" Publisher publishers.csv --on-invalid skip; echo "[$?]"
            """#)
        #expect(
            result.output == """
                Imported 3 records of Publisher: 1 inserted, 0 updated, 2 left out.
                [1]
                Would import 1 record of Publisher: 0 inserted, 0 updated, 1 left out.
                [1]
                Imported 1 record of Publisher: 1 inserted, 0 updated, 0 left out.
                [0]

                """, "\(result.output) \(result.errors)")
        #expect(result.errors.contains("2 records were left out.") && result.errors.contains("1 record was left out."), "\(result.errors)")
    }

    /// The reader waits until the pipe is full.
    @Test func outputThatDoesNotBlockIsWaitedFor() throws {
        let program = """
            import array, fcntl, os, subprocess, sys, termios, time
            reading, writing = os.pipe()
            os.set_blocking(writing, False)
            tool = subprocess.Popen(sys.argv[1:], stdout=writing)
            os.close(writing)
            def size():
                count = array.array("i", [0])
                fcntl.ioctl(reading, termios.FIONREAD, count)
                return count[0]
            while size() < 16384 and tool.poll() is None: time.sleep(0.01)
            data = b""
            while part := os.read(reading, 4096): data += part
            print(len(data.splitlines()), tool.wait())
            """
        try program.write(toFile: folder.path + "/reader.py", atomically: true, encoding: .utf8)
        let result = try run(
            """
            seq 1 5000 | sed 's/.*/{"name":"publisher &"}/' | polystore import "$STORE" Publisher - > out.txt
            python3 reader.py "$POLYSTORE" query "$STORE" Publisher --format jsonl
            """)
        #expect(result.output == "5002 0\n", "\(result.output) \(result.errors)")
    }

    @Test func helpNamesWhatRemainsOfAnInterruptedCommand() throws {
        let help = try run("polystore --help").output.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        #expect(help.contains("except that import --batch keeps what it has committed") && help.contains("left records out"))
    }
}
