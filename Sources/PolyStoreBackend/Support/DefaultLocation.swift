import PolyStorePlatform

/// The default location of a store.
public enum DefaultLocation {
    /// Returns the default path of a store of this process: `PROCESS/PROCESS.EXTENSION` in the platform's folder for application data.
    ///
    /// The folder is `Library/Application Support` in the home folder on Apple platforms. Elsewhere it is `$XDG_DATA_HOME` if that is an absolute path,
    /// otherwise `.local/share` in the home folder. Source: XDG Base Directory Specification 0.8.
    public static func path(extension name: String) -> String { path(extension: name, processName: processName, environment: environment) }

    static func path(extension name: String, processName: String, environment: (String) -> String?) -> String {
        let home = environment("HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? passwordHome ?? P_tmpdir
        #if canImport(Darwin)
            let folder = home + "/Library/Application Support"
        #else
            // The specification requires that relative paths are ignored.
            let folder = environment("XDG_DATA_HOME").flatMap { $0.hasPrefix("/") ? $0 : nil } ?? home + "/.local/share"
        #endif
        let cut = folder.count > 1 && folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        return "\(cut)/\(processName)/\(processName).\(name)"
    }

    /// The name of the running program, without characters that are invalid in file names.
    static var processName: String {
        let argument = CommandLine.arguments.first ?? ""
        let name = argument.split(separator: "/").last.map { String($0.filter { $0 != "\0" }) } ?? ""
        return name.isEmpty || name == "." || name == ".." ? "PolyStore" : name
    }

    private static func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    private static var passwordHome: String? { getpwuid(getuid()).flatMap { $0.pointee.pw_dir }.map { String(cString: $0) } }
}
