import StoreTesting
import Testing

/// The commands that read, on every engine. What they print does not depend on it.
@Suite struct ReadingTests {
    @Test(arguments: Engine.available, ["query", "get", "schema", "info", "conditions"])
    func printsTheSameOnEveryEngine(_ engine: Engine, _ name: String) throws {
        let folder = try TemporaryFolder()
        let url = try engine.makeLibrary(in: folder)
        var transcript = try Transcript(name)
        try transcript.check(engine, url, in: folder)
    }

    @Test(arguments: Engine.available)
    func namesCanHaveAnyCharacter(_ engine: Engine) throws {
        let folder = try TemporaryFolder()
        let url = engine.url(folder)
        try OddNames.make(url)
        var transcript = try Transcript("names")
        try transcript.check(engine, url, in: folder)
    }
}
