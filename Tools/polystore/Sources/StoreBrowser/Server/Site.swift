import BrowserData

/// The values that all pages of a browser share.
struct Site: Sendable {
    let store: BrowserStore
    let options: BrowserOptions
    let templates: Templates
    /// Where the server listens.
    let listening = ListeningAddress()
    /// The token that a form must contain. It differs from the token of the address, which can be in the history of the browser.
    let formToken = AccessToken()
}
