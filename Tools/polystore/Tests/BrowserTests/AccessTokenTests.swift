import StoreBrowser
import Testing

@Suite struct AccessTokenTests {
    @Test func tokenMatchesItselfOnly() {
        let token = AccessToken()
        #expect(token.matches(token.description))
        #expect(token.description.utf8.count == 32)
        for other in ["", String(token.description.dropLast()), token.description + "0", AccessToken().description] {
            #expect(!token.matches(other))
        }
    }
}
