import Foundation
import StoreTesting
import Testing

/// The command that shows a store in a web browser. The pages have tests of their own.
@Suite struct BrowseTests {
    @Test func storeThatDoesNotExistIsNamed() throws {
        let folder = try TemporaryFolder()
        let result = try Tool.run("polystore browse sqlite:nothing.sqlite", in: folder)
        #expect(result.status == 3)
        #expect(result.errors.contains("There is no store at") && result.output.isEmpty)
    }

    @Test(arguments: ["--port 70000", "--port -1", "--timeout 0", "--host ''"])
    func invalidOptionIsNamed(_ option: String) throws {
        let folder = try TemporaryFolder()
        try Engine.sqlite.makeLibrary(in: folder)
        let result = try Tool.run("polystore browse library.sqlite \(option)", in: folder)
        #expect(result.status == 2)
        #expect(result.errors.contains(option.prefix { $0 != " " }))
    }

    @Test func portThatIsUsedIsNamed() throws {
        let folder = try TemporaryFolder()
        try Engine.sqlite.makeLibrary(in: folder)
        // The first browser holds the port until the second has failed.
        let result = try Tool.run(
            """
            "$POLYSTORE" browse library.sqlite > address 2> first & first=$!
            until [ -s address ]; do kill -0 $first || exit 9; sleep 0.05; done
            port=$(sed -E 's/.*:([0-9]+)\\/.*/\\1/' address)
            polystore browse library.sqlite --port $port; status=$?
            kill -TERM $first; wait $first
            exit $status
            """, in: folder)
        #expect(result.status == 4, "\(result.errors)")
        #expect(result.errors.contains("Cannot listen on 127.0.0.1:") && result.errors.contains("--port"))
    }

    @Test(arguments: [("TERM", 143), ("INT", 130)])
    func signalEndsTheServerWithAnOpenConnection(_ signal: String, _ status: Int) throws {
        let folder = try TemporaryFolder()
        try Engine.sqlite.makeLibrary(in: folder)
        let result = try Tool.run(
            """
            "$POLYSTORE" browse library.sqlite > address 2> errors & browser=$!
            until [ -s address ]; do kill -0 $browser || exit 9; sleep 0.05; done
            port=$(sed -E 's/.*:([0-9]+)\\/.*/\\1/' address); token=$(sed 's/.*=//' address)
            exec 5<>/dev/tcp/127.0.0.1/$port
            printf 'GET /history.events HTTP/1.1\\r\\nHost: 127.0.0.1:%s\\r\\nAuthorization: Bearer %s\\r\\n\\r\\n' $port $token >&5
            read -r line <&5; echo "$line"
            kill -\(signal) $browser; wait $browser; echo $?
            """, in: folder)
        #expect(result.output.contains("200 OK"), "\(result.output)")
        #expect(result.output.hasSuffix("\(status)\n"), "\(result.output)")
    }
}
