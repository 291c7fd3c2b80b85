import Foundation

// Charts and maps as text.

/// A number with separated thousands: 1 234 567.
func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = ""
    for (position, digit) in digits.enumerated() {
        if position > 0, (digits.count - position) % 3 == 0 { text.append(" ") }
        text.append(digit)
    }
    return (number < 0 ? "-" : "") + text
}

extension String {
    /// Truncates or pads to a width in characters.
    func padded(_ width: Int) -> String {
        count > width ? prefix(width - 1) + "…" : self + String(repeating: " ", count: width - count)
    }

    func leftPadded(_ width: Int) -> String { count >= width ? self : String(repeating: " ", count: width - count) + self }
}

func heading(_ text: String) {
    print("\n\(text)")
    print(String(repeating: "─", count: text.count))
}

/// Horizontal bars, the longest as wide as `width`, with eighths of a character.
func bars(_ rows: [(label: String, value: Double, text: String)], width: Int = 40, labelWidth: Int = 24) {
    let greatest = rows.map(\.value).max() ?? 0
    let parts = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"]
    for row in rows {
        let eighths = greatest > 0 ? Int((row.value / greatest * Double(width * 8)).rounded()) : 0
        let bar = String(repeating: "█", count: eighths / 8) + parts[eighths % 8]
        print("  \(row.label.padded(labelWidth)) \(bar.padded(width)) \(row.text)")
    }
}

/// Names in columns.
func columns(_ names: [String], width: Int = 100, columnWidth: Int = 25) {
    let perLine = max(1, width / columnWidth)
    for start in stride(from: 0, to: names.count, by: perLine) {
        print("  " + names[start..<min(start + perLine, names.count)].map { $0.padded(columnWidth) }.joined())
    }
}

/// Points on the globe as a map of characters: denser areas are darker.
func map(_ points: [(latitude: Double, longitude: Double)], width: Int = 100, height: Int = 30) {
    var counts = Array(repeating: 0, count: width * height)
    for point in points {
        // From 75° N to 56° S: the inhabited latitudes.
        let x = Int((point.longitude + 180) / 360 * Double(width))
        let y = Int((75 - point.latitude) / 131 * Double(height))
        if (0..<width).contains(x), (0..<height).contains(y) { counts[y * width + x] += 1 }
    }
    let shades: [Character] = [" ", "·", ":", "+", "x", "#", "@"]
    for y in 0..<height {
        let line = (0..<width).map { x -> Character in
            let count = counts[y * width + x]
            return count == 0 ? shades[0] : shades[min(shades.count - 1, 1 + Int(log2(Double(count))))]
        }
        print("  " + String(line))
    }
}
